import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { usePage } from '../context';
import type { Json } from '../types';
import { Blocks } from './Blocks';
import { FormContext, initialValues, stateOf } from './form';

interface Props {
  blocks: Json[];
  /** Message the blocks stand in; absent in a view. */
  message?: { channel: string; ts: string };
  errors?: Record<string, string>;
  kept?: Json;
  onValues?: (values: Json) => void;
}

/** Blocks that can be pressed and filled in. */
export function BlockForm({ blocks, message, errors, kept, onValues }: Props): VNode {
  const { act, toast, say } = usePage();
  const [touched, setTouched] = useState<Json>({});
  const values = initialValues(blocks, merge(kept ?? {}, touched));
  const with_ = (blockId: string, element: Json, value: Json): Json =>
    merge(touched, { [blockId]: { [element.action_id]: stateOf(element, value) } });
  const form = {
    values,
    errors: errors ?? {},
    set: (blockId: string, element: Json, value: Json) => {
      const next = with_(blockId, element, value);
      setTouched(next);
      onValues?.(initialValues(blocks, merge(kept ?? {}, next)));
    },
    press: async (element: Json, value?: Json) => {
      const fields = { action_id: element.action_id, value, state: values, ...message };
      const { state } = await act('press', fields);
      if (state === 'failed' || state === 'lost') toast(say('notice_interaction_timeout'));
      return state === 'acknowledged';
    },
  };
  return (
    <FormContext.Provider value={form}>
      <Blocks blocks={blocks} />
    </FormContext.Provider>
  );
}

function merge(values: Json, more: Json): Json {
  const merged = { ...values };
  for (const [blockId, entries] of Object.entries(more)) {
    merged[blockId] = { ...merged[blockId], ...(entries as Json) };
  }
  return merged;
}

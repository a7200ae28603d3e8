// What is typed and chosen in the blocks of one message or view, and what pressing something does.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Json } from '../types';

export interface Form {
  /** `state.values`: by block id and action id. */
  values: Json;
  errors: Record<string, string>;
  set: (blockId: string, element: Json, value: Json) => void;
  /** Sends a press to the app; true when the app acknowledged it. */
  press: (element: Json, value?: Json) => Promise<boolean>;
}

export const FormContext = createContext<Form>({
  values: {},
  errors: {},
  set: () => undefined,
  press: async () => false,
});
export const useForm = (): Form => useContext(FormContext);

const FREE: Record<string, string> = {
  channels_select: 'selected_channel',
  conversations_select: 'selected_conversation',
  datepicker: 'selected_date',
  datetimepicker: 'selected_date_time',
  multi_channels_select: 'selected_channels',
  multi_conversations_select: 'selected_conversations',
  multi_users_select: 'selected_users',
  timepicker: 'selected_time',
  users_select: 'selected_user',
};

export const optionsOf = (element: Json): Json[] => [
  ...(element.options ?? []),
  ...(element.option_groups ?? []).flatMap((group: Json) => group.options ?? []),
];

const isMany = (type: string): boolean => type === 'checkboxes' || type.startsWith('multi_');

/** What Slack puts into `state.values` for an element that holds `value`. */
export function stateOf(element: Json, value: Json): Json {
  const { type } = element;
  if (FREE[type]) return { type, [FREE[type]]: value || null };
  if (isMany(type)) {
    return { type, selected_options: optionsOf(element).filter((o) => (value ?? []).includes(o.value)) };
  }
  if (type === 'static_select' || type === 'radio_buttons') {
    return { type, selected_option: optionsOf(element).find((o) => o.value === value) ?? null };
  }
  if (type === 'rich_text_input') {
    const section = { type: 'rich_text_section', elements: [{ type: 'text', text: value }] };
    return { type, rich_text_value: value ? { type: 'rich_text', elements: [section] } : undefined };
  }
  return { type, value: value || null };
}

/** The plain value that an element's `state.values` entry stands for. */
export function valueOf(element: Json, entry: Json | undefined): Json {
  const { type } = element;
  if (FREE[type]) return entry?.[FREE[type]] ?? (type.startsWith('multi_') ? [] : '');
  if (isMany(type)) return (entry?.selected_options ?? []).map((option: Json) => option.value);
  if (type === 'static_select' || type === 'radio_buttons') return entry?.selected_option?.value ?? '';
  if (type === 'rich_text_input') return entry?.rich_text_value?.elements?.[0]?.elements?.[0]?.text ?? '';
  return entry?.value ?? '';
}

/** What an element holds before anybody has touched it. */
export function initialOf(element: Json): Json {
  const { type } = element;
  if (isMany(type) && !FREE[type]) return (element.initial_options ?? []).map((o: Json) => o.value);
  if (type === 'static_select' || type === 'radio_buttons') return element.initial_option?.value ?? '';
  const key = FREE[type]?.replace('selected', 'initial') ?? 'initial_value';
  return element[key] ?? (type.startsWith('multi_') ? [] : '');
}

/** Every element that holds a value, with the id of its block. */
export function inputsOf(blocks: Json[]): [string, Json][] {
  return blocks.flatMap((block) => {
    const elements = [block.element, block.accessory, ...(block.elements ?? [])];
    const inputs = elements.filter((e) => e && typeof e.action_id === 'string' && isInput(e.type));
    return [
      ...inputs.map((element): [string, Json] => [block.block_id, element]),
      ...inputsOf(block.child_blocks ?? []),
    ];
  });
}

const isInput = (type: string): boolean =>
  /(_select|_input|picker)$|^checkboxes$|^radio_buttons$/.test(type) && type !== 'file_input';

export function initialValues(blocks: Json[], kept: Json): Json {
  const values: Json = {};
  for (const [blockId, element] of inputsOf(blocks)) {
    const entry = kept?.[blockId]?.[element.action_id] ?? stateOf(element, initialOf(element));
    values[blockId] = { ...values[blockId], [element.action_id]: entry };
  }
  return values;
}

/** Ids of blocks that must be filled in and are not. */
export function missingIn(blocks: Json[], values: Json): string[] {
  return blocks
    .filter((block) => block.type === 'input' && !block.optional && block.element?.action_id)
    .filter((block) => {
      const value = valueOf(block.element, values[block.block_id]?.[block.element.action_id]);
      return value === '' || value == null || (Array.isArray(value) && value.length === 0);
    })
    .map((block) => block.block_id);
}

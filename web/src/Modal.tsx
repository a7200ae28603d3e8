import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { BlockForm } from './blocks/BlockForm';
import { initialValues, missingIn } from './blocks/form';
import { plain } from './blocks/Text';
import { usePage } from './context';
import { Dialog } from './Dialog';
import { Inspected } from './Inspector';
import type { Json, View } from './types';

/** The modal that is on top of a person's stack. */
export function Modal({ view }: { view: View }): VNode {
  const { say, act, seen, world } = usePage();
  const [values, setValues] = useState<Json>(null);
  const [own, setOwn] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const [inspected, setInspected] = useState(false);
  const filled = initialValues(view.blocks, values ?? view.state.values);
  const submit = async (): Promise<void> => {
    const missing = missingIn(view.blocks, filled);
    setOwn(Object.fromEntries(missing.map((id) => [id, say('fieldMissing')])));
    if (missing.length) return;
    setBusy(true);
    setFailed(false);
    const { state } = await act('submit', { state: filled });
    setBusy(false);
    setFailed(state !== 'acknowledged');
  };
  return (
    <Dialog title={plain(view.title)} onClose={() => void act('close_modal')} class={inspected ? 'slack-modal inspected' : 'slack-modal'}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div class="dialog-body">
          {failed && (
            <div class="alert error" role="alert">
              {say('dialogFailed')}
            </div>
          )}
          <BlockForm
            blocks={view.blocks}
            kept={view.state.values}
            errors={{ ...view.errors, ...own }}
            onValues={setValues}
          />
        </div>
        <footer>
          <button
            type="button"
            class="icon"
            aria-label={say('inspect')}
            title={say('inspect')}
            aria-expanded={inspected}
            onClick={() => setInspected(!inspected)}
          >
            {'{ }'}
          </button>
          <span class="dim by">{seen.app.name}</span>
          <button type="button" class="button" onClick={() => void act('close_modal')}>
            {plain(view.close) || say('close')}
          </button>
          {view.submit && (
            <button type="submit" class="button primary" disabled={busy} aria-busy={busy}>
              {plain(view.submit)}
            </button>
          )}
        </footer>
      </form>
      {inspected && (
        <div class="behind-modal">
          <Inspected query={{ view: view.id }} canExplain={world.can_explain} />
        </div>
      )}
    </Dialog>
  );
}

import type { VNode } from 'preact';
import { Dialog } from '../Dialog';
import type { Json } from '../types';
import { plain, TextObject } from './Text';

/** Slack's question before a press that an app wants confirmed. */
export function Confirm({ confirm, onEnd }: { confirm: Json; onEnd: (agreed: boolean) => void }): VNode {
  return (
    <Dialog title={plain(confirm.title)} onClose={() => onEnd(false)} class="confirm">
      <div class="dialog-body">
        <TextObject of={confirm.text} />
      </div>
      <footer>
        <button type="button" class="button" onClick={() => onEnd(false)}>
          {plain(confirm.deny)}
        </button>
        <button
          type="button"
          class={`button ${confirm.style === 'danger' ? 'danger solid' : 'primary'}`}
          onClick={() => onEnd(true)}
        >
          {plain(confirm.confirm)}
        </button>
      </footer>
    </Dialog>
  );
}

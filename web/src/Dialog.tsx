import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { usePage } from './context';

interface Props {
  title: string;
  onClose: () => void;
  class?: string;
  children: ComponentChildren;
}

/** A modal dialog: the browser keeps the focus inside and brings it back afterwards. */
export function Dialog({ title, onClose, class: extra, children }: Props): VNode {
  const { say } = usePage();
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    ref.current?.showModal();
    // Slack starts in the first field, not at the button that closes.
    ref.current?.querySelector<HTMLElement>('.dialog-body :is(.field, input)')?.focus();
    return () => ref.current?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={`dialog ${extra ?? ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon" aria-label={say('close')} onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

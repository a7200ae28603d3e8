import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { usePage } from './context';

interface Props {
  children: ComponentChildren;
  /** Where the focus goes when the pane opens; a pane with a composer keeps it there. */
  focused?: boolean;
}

/** The head of a pane at the side: its title, and the way back to where one was. */
export function PaneHead({ children, focused }: Props): VNode {
  const { say, show } = usePage();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    if (focused) title.current?.focus();
    return () => {
      const lost = !document.activeElement || document.activeElement === document.body;
      const box = document.querySelector<HTMLElement>('.main .composer textarea');
      if (lost) (before instanceof HTMLElement && before.isConnected ? before : box)?.focus();
    };
  }, []);
  return (
    <header class="pane-head">
      <button type="button" class="icon back" aria-label={say('back')} onClick={() => show(null)}>
        ‹
      </button>
      <h2 ref={title} tabIndex={-1}>
        {children}
      </h2>
      <button type="button" class="icon close" aria-label={say('close')} onClick={() => show(null)}>
        ✕
      </button>
    </header>
  );
}

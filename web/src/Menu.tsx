import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Item {
  label: string;
  act: () => void;
}

interface Props {
  label: string;
  items: Item[];
  class?: string;
  children: ComponentChildren;
}

/** Where there is more room: below the button or above it, never cut off by what scrolls. */
function beside(button: HTMLElement): Record<string, string> {
  const box = button.getBoundingClientRect();
  const right = `${Math.max(8, window.innerWidth - box.right)}px`;
  return box.bottom < window.innerHeight * 0.6
    ? { right, top: `${box.bottom + 4}px` }
    : { right, bottom: `${window.innerHeight - box.top + 4}px` };
}

/** A button that opens a list of actions; arrows move in it, Escape closes it. */
export function Menu({ label, items, class: extra, children }: Props): VNode {
  const [open, setOpen] = useState(false);
  const [place, setPlace] = useState<Record<string, string>>({});
  const box = useRef<HTMLDivElement>(null);
  const move = (by: number): void => {
    const buttons = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const now = buttons.indexOf(document.activeElement as HTMLElement);
    buttons[(now + by + buttons.length) % buttons.length]?.focus();
  };
  const close = (): void => {
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  useEffect(() => {
    if (!open) return undefined;
    box.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const outside = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  return (
    <div
      class="menu"
      ref={box}
      onKeyDown={(event) => {
        if (!open) return;
        if (event.key === 'ArrowDown') move(1);
        else if (event.key === 'ArrowUp') move(-1);
        else if (event.key === 'Escape') close();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <button
        type="button"
        class={extra}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={label}
        title={label}
        onClick={(event) => {
          setPlace(beside(event.currentTarget));
          setOpen(!open);
        }}
      >
        {children}
      </button>
      {open && (
        <div class="menu-list" role="menu" aria-label={label} style={place}>
          {items.map((item) => (
            <button
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close();
                item.act();
              }}
            >
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

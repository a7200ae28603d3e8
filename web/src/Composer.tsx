import type { VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { usePage } from './context';
import type { Seen } from './types';

interface Props {
  /** Where a command typed here would be used; absent in threads, which have none. */
  channel?: string;
  placeholder: string;
  onSend: (text: string) => void;
  autoFocus?: boolean;
  /** Begun elsewhere on the page; a new object puts its words into the box. */
  draft?: Draft | null;
}

export interface Draft {
  text: string;
}

interface Choice {
  insert: string;
  label: string;
  note: string;
}

/** What can complete the word before the cursor: people after `@`, channels after `#`, commands. */
function choicesFor(seen: Seen, before: string, commands: boolean): { start: number; choices: Choice[] } {
  const match = /(?:^|\s)([@#/])([\p{L}\p{N}._-]*)$/u.exec(before);
  if (!match) return { start: 0, choices: [] };
  const [, sign, typed] = match;
  const start = before.length - typed.length - 1;
  const fits = (name: string): boolean => name.toLowerCase().includes(typed.toLowerCase());
  if (sign === '@') {
    const people = [...seen.users].sort((a, b) => Number(b.is_bot) - Number(a.is_bot));
    return {
      start,
      choices: people
        .filter((user) => fits(user.name) || fits(user.real_name))
        .slice(0, 7)
        .map((user) => ({
          insert: `@${user.id === seen.app.user_id ? seen.app.name : user.name} `,
          label: user.real_name,
          note: user.is_bot ? 'APP' : `@${user.name}`,
        })),
    };
  }
  if (sign === '#') {
    const channels = seen.channels.filter((channel) => channel.kind !== 'im' && fits(channel.name));
    return {
      start,
      choices: channels.map((c) => ({ insert: `#${c.name} `, label: `#${c.name}`, note: '' })),
    };
  }
  if (start > 0 || !commands) return { start, choices: [] };
  return {
    start,
    choices: seen.app.commands
      .filter((command) => command.command.startsWith(`/${typed}`))
      .map((c) => ({
        insert: `${c.command} `,
        label: `${c.command} ${c.usage_hint}`,
        note: c.description,
      })),
  };
}

export function Composer({ channel, placeholder, onSend, autoFocus, draft }: Props): VNode {
  const { seen, say, act, toast } = usePage();
  const [text, setText] = useState('');
  const [cursor, setCursor] = useState(0);
  const [marked, setMarked] = useState(0);
  const [closed, setClosed] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const { start, choices } = choicesFor(seen, text.slice(0, cursor), !!channel);
  const open = choices.length > 0 && !closed;

  useEffect(() => {
    if (autoFocus) field.current?.focus();
  }, [autoFocus, channel]);
  useEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = 'auto';
    // Not while it is hidden, behind another pane of a phone: it would stay flat.
    if (box.scrollHeight > 0) box.style.height = `${Math.min(box.scrollHeight, 200)}px`;
  }, [text]);

  const put = (next: string, place: number): void => {
    // At once, not with the next drawing: what is typed meanwhile must come after it.
    if (field.current) {
      field.current.value = next;
      field.current.focus();
      field.current.setSelectionRange(place, place);
    }
    setText(next);
    setCursor(place);
    setMarked(0);
  };
  const complete = (choice: Choice): void => {
    put(text.slice(0, start) + choice.insert + text.slice(cursor), start + choice.insert.length);
  };
  useEffect(() => {
    if (draft) put(draft.text, draft.text.length);
  }, [draft]);
  const send = (): void => {
    const typed = text.trim();
    if (!typed) return;
    const [, name, rest] = /^(\/\S+)\s*([\s\S]*)$/.exec(typed) ?? [];
    const command = seen.app.commands.find((one) => one.command === name);
    if (command && !channel) {
      toast(say('noCommandsInThreads'));
      return;
    }
    setText('');
    setCursor(0);
    if (command) void act('slash', { channel, command: name, text: rest });
    else onSend(typed);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (open && ['ArrowDown', 'ArrowUp'].includes(event.key)) {
      const by = event.key === 'ArrowDown' ? 1 : -1;
      setMarked((marked + by + choices.length) % choices.length);
    } else if (open && (event.key === 'Tab' || event.key === 'Enter') && !event.shiftKey) {
      // A command typed in full is sent, not completed once more.
      const choice = choices[Math.min(marked, choices.length - 1)];
      if (event.key === 'Enter' && choice.insert.trim() === text.trim()) send();
      else complete(choice);
    } else if (open && event.key === 'Escape') {
      setClosed(true);
    } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      send();
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {open && (
        <ul class="completion" role="listbox" id={`${id}-list`} aria-label={say('suggestions')}>
          {choices.map((choice, index) => (
            <li
              role="option"
              id={`${id}-${index}`}
              aria-selected={index === marked}
              onPointerDown={(event) => {
                event.preventDefault();
                complete(choice);
              }}
            >
              <span>{choice.label}</span> <span class="dim">{choice.note}</span>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        rows={1}
        value={text}
        placeholder={placeholder}
        aria-label={placeholder}
        aria-autocomplete="list"
        aria-controls={open ? `${id}-list` : undefined}
        aria-activedescendant={open ? `${id}-${Math.min(marked, choices.length - 1)}` : undefined}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCursor(event.currentTarget.selectionStart);
          setMarked(0);
          setClosed(false);
        }}
        onClick={(event) => setCursor(event.currentTarget.selectionStart)}
        onKeyUp={(event) => {
          if (event.key.startsWith('Arrow')) setCursor(event.currentTarget.selectionStart);
        }}
        onKeyDown={onKeyDown}
      />
      <button type="submit" class="send" aria-label={say('send')} disabled={!text.trim()}>
        <svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">
          <path d="M2.500 3.500 18 10 2.500 16.500 4.500 11 12 10 4.500 9z" fill="currentColor" />
        </svg>
      </button>
    </form>
  );
}

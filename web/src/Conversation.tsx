import type { VNode } from 'preact';
import { Fragment } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Composer, type Draft } from './Composer';
import { channelOf, dayOf, isReply, placeName, usePage } from './context';
import { MessageRow } from './MessageRow';
import { PaneHead } from './PaneHead';
import type { Channel, Message, Session } from './types';

/** Messages in order of time, with the days between them; stays at the newest one. */
export function MessageList({
  messages,
  label,
  inThread,
  counted,
}: {
  messages: Message[];
  label: string;
  inThread?: boolean;
  /** With the number of replies below the first message. */
  counted?: boolean;
}): VNode {
  const { seen, say } = usePage();
  const [dismissed, setDismissed] = useState<string[]>([]);
  const list = useRef<HTMLOListElement>(null);
  const atEnd = useRef(true);
  const shown = messages.filter((message) => !dismissed.includes(message.ts));
  useLayoutEffect(() => {
    const box = list.current;
    if (box && atEnd.current) box.scrollTop = box.scrollHeight;
  });
  let day = '';
  let before: Message | null = null;
  return (
    <ol
      class="messages"
      ref={list}
      aria-label={label}
      aria-live="polite"
      aria-relevant="additions"
      tabIndex={0}
      onScroll={(event) => {
        const box = event.currentTarget;
        atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
      }}
    >
      {shown.map((message) => {
        const own = dayOf(seen, message.ts, say);
        const changed = own !== day && !inThread;
        const follows = !changed && isContinued(before, message);
        day = own;
        before = message;
        return (
          <Fragment key={message.ts}>
            {changed && (
              <li class="day">
                <span>{own}</span>
              </li>
            )}
            <MessageRow
              message={message}
              inThread={inThread}
              follows={follows}
              onDismiss={(ts) => setDismissed([...dismissed, ts])}
            />
            {counted && message === shown[0] && shown.length > 1 && (
              <li class="day replies-count">
                <span>
                  {shown.length === 2 ? say('oneReply') : say('replies', { n: shown.length - 1 })}
                </span>
              </li>
            )}
          </Fragment>
        );
      })}
    </ol>
  );
}

const CONTINUED_S = 300;

/** Whether somebody goes on: Slack then leaves their picture and name away. */
function isContinued(before: Message | null, message: Message): boolean {
  if (!before || before.is_ephemeral || message.is_ephemeral || before.reply_count) return false;
  const soon = Number(message.ts) - Number(before.ts) < CONTINUED_S;
  return soon && before.user === message.user && !before.subtype && !message.subtype;
}

export const rootsOf = (channel: Channel): Message[] =>
  channel.messages.filter((message) => !isReply(message) || message.subtype === 'thread_broadcast');

export const threadOf = (channel: Channel, ts: string): Message[] =>
  channel.messages.filter((message) => message.ts === ts || message.thread_ts === ts);

export function sessionOf(sessions: Session[], channel: string, ts: string): Session | undefined {
  return sessions.find((session) => session.channel === channel && session.thread_ts === ts);
}

/** What the app is doing in a thread, and the button that stops it. */
export function SessionStatus({ channel, ts }: { channel: string; ts: string }): VNode | null {
  const { seen, say, act } = usePage();
  const session = sessionOf(seen.sessions, channel, ts);
  if (session?.status !== 'processing') return null;
  return (
    <div class="session" role="status">
      <span class="spinner" aria-hidden="true" />
      <span>{session.loading_messages[0] || session.loading || say('working', { app: seen.app.name })}</span>
      {seen.app.can_stop && (
        <button
          type="button"
          class="button small"
          onClick={(event) => {
            // The button goes away; the focus stays in its pane.
            event.currentTarget
              .closest('.main, .side')
              ?.querySelector<HTMLElement>('.composer textarea')
              ?.focus();
            void act('stop', { channel, ts });
          }}
        >
          ■ {say('stop')}
        </button>
      )}
    </div>
  );
}

export function ChannelView({ channel, onBack }: { channel: Channel; onBack: () => void }): VNode {
  const { seen, say, show } = usePage();
  return (
    <>
      <header class="pane-head">
        <button type="button" class="icon back" aria-label={say('back')} onClick={onBack}>
          ‹
        </button>
        <h1>{placeName(seen, channel)}</h1>
        <span class="dim members">{say('members', { n: channel.members.length })}</span>
        {seen.app.is_agent && !seen.me.is_guest && (
          <button
            type="button"
            class="icon agent-button"
            aria-label={say('agent', { app: seen.app.name })}
            title={say('agent', { app: seen.app.name })}
            onClick={() => show({ kind: 'agent', ts: null })}
          >
            <img src="icon.svg" alt="" width="20" height="20" />
          </button>
        )}
      </header>
      <ChannelMessages channel={channel} />
    </>
  );
}

/** What stands in a conversation, and the box to write in it. */
export function ChannelMessages({ channel }: { channel: Channel }): VNode {
  const { seen, say, act } = usePage();
  const [draft, setDraft] = useState<Draft | null>(null);
  const name = placeName(seen, channel);
  const roots = rootsOf(channel);
  return (
    <>
      {roots.length > 0 ? (
        <MessageList messages={roots} label={name} key={channel.id} />
      ) : (
        <Beginning channel={channel} onDraft={(text) => setDraft({ text })} />
      )}
      <Deaf />
      {!channel.has_app && (
        <div class="banner">
          {say('notInChannel', { app: seen.app.name })}{' '}
          <button type="button" class="link" onClick={() => void act('invite', { channel: channel.id })}>
            {say('addApp', { app: seen.app.name })}
          </button>
        </div>
      )}
      <Composer
        key={`c-${channel.id}`}
        channel={channel.id}
        placeholder={say('messageTo', { place: name })}
        onSend={(text) => void act('say', { channel: channel.id, text })}
        draft={draft}
        autoFocus
      />
    </>
  );
}

/** A conversation in which nothing was said yet: what one can do there. */
function Beginning({ channel, onDraft }: { channel: Channel; onDraft: (text: string) => void }): VNode {
  const { seen, say } = usePage();
  const { app } = seen;
  const isDirect = channel.kind === 'im';
  const [command] = app.commands;
  return (
    <div class="scroll beginning">
      <h2>{placeName(seen, channel)}</h2>
      <p>{say(isDirect ? 'beginningDirect' : 'beginning', { app: app.name })}</p>
      <div class="row">
        {!isDirect && (
          <button type="button" class="button" onClick={() => onDraft(`@${app.name} `)}>
            {say('mentionApp', { app: app.name })}
          </button>
        )}
        {command && (
          <button type="button" class="button" onClick={() => onDraft(`${command.command} `)}>
            {say('useCommand', { command: command.command })}
          </button>
        )}
      </div>
    </div>
  );
}

/** As long as the app is away, what is said reaches nobody: Slack does not keep it. */
export function Deaf(): VNode | null {
  const { seen, say } = usePage();
  if (seen.app.is_connected) return null;
  return (
    <div class="banner" role="status">
      <span class="spinner" aria-hidden="true" /> {say('deaf', { app: seen.app.name })}
    </div>
  );
}

export function ThreadPane({ channel: id, ts }: { channel: string; ts: string }): VNode {
  const { seen, say, act } = usePage();
  const channel = channelOf(seen, id);
  return (
    <>
      <PaneHead>
        {say('thread')} {channel && <span class="dim">{placeName(seen, channel)}</span>}
      </PaneHead>
      {channel && <MessageList messages={threadOf(channel, ts)} label={say('thread')} inThread counted key={ts} />}
      <SessionStatus channel={id} ts={ts} />
      <Deaf />
      <Composer
        key={`t-${ts}`}
        placeholder={say('replyPlaceholder')}
        onSend={(text) => void act('say', { channel: id, text, thread_ts: ts })}
        autoFocus
      />
    </>
  );
}

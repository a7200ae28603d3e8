import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Avatar } from './Avatar';
import { BlockForm } from './blocks/BlockForm';
import { emoji, REACTIONS } from './blocks/emoji';
import { Mrkdwn, Unknown } from './blocks/Text';
import { isReply, timeOf, usePage, userOf } from './context';
import { Menu, type Item } from './Menu';
import type { Message } from './types';

interface Props {
  message: Message;
  /** In a thread pane: no count of replies, no button to open the thread. */
  inThread?: boolean;
  /** Goes on from the message above: without picture and name. */
  follows?: boolean;
  onDismiss: (ts: string) => void;
}

export function MessageRow({ message, inThread, follows, onDismiss }: Props): VNode {
  const { seen, say, act, show } = usePage();
  const [editing, setEditing] = useState(false);
  const author = userOf(seen, message.user);
  const isOwn = message.user === seen.me.id;
  const where = { channel: message.channel, ts: message.ts };
  const root = message.thread_ts ?? message.ts;
  const reply = (): void => show({ kind: 'thread', channel: message.channel, ts: root });
  const items: Item[] = [
    ...seen.app.shortcuts.map((shortcut) => ({
      label: `${shortcut.name} — ${seen.app.name}`,
      act: () => void act('shortcut', { ...where, callback_id: shortcut.callback_id }),
    })),
    { label: say('inspect'), act: () => show({ kind: 'inspect', ...where }) },
    ...(isOwn
      ? [
          { label: say('edit'), act: () => setEditing(true) },
          { label: say('delete'), act: () => void act('delete', where) },
        ]
      : []),
  ];
  return (
    <li
      class={`message ${message.is_ephemeral ? 'ephemeral' : ''} ${follows ? 'follows' : ''}`}
      data-ts={message.ts}
    >
      <Avatar id={message.user} />
      <div class="message-main">
        {message.is_ephemeral && <div class="only-you">👁 {say('onlyYou')}</div>}
        <div class="message-head">
          <span class="author">{author?.real_name ?? message.user}</span>
          {message.bot_id && <span class="badge">{say('app')}</span>}
          <time class="time">{timeOf(seen, message.ts)}</time>
        </div>
        {editing ? <Editor message={message} onEnd={() => setEditing(false)} /> : <Body message={message} />}
        {message.edited && isOwn && <span class="time">{say('edited')}</span>}
        <Reactions message={message} />
        {!inThread && !!message.reply_count && (
          <button type="button" class="replies" onClick={reply}>
            {(message.reply_users ?? []).slice(0, 3).map((id) => (
              <Avatar id={id} size={22} />
            ))}
            <span>
              {message.reply_count === 1 ? say('oneReply') : say('replies', { n: message.reply_count })}
            </span>
            {message.latest_reply && (
              <span class="time">{say('lastReply', { time: timeOf(seen, message.latest_reply) })}</span>
            )}
          </button>
        )}
        {message.is_ephemeral && (
          <button type="button" class="link small" onClick={() => onDismiss(message.ts)}>
            {say('dismiss')}
          </button>
        )}
      </div>
      <div class="tools" role="group" aria-label={say('moreActions')}>
        {!message.is_ephemeral && (
          <>
            {REACTIONS.slice(0, 2).map((name) => (
              <button
                type="button"
                class="icon"
                aria-label={`${say('addReaction')} ${name}`}
                onClick={() => void act('react', { ...where, reaction: name })}
              >
                {emoji(name)}
              </button>
            ))}
            {!inThread && !isReply(message) && (
              <button type="button" class="icon" aria-label={say('reply')} title={say('reply')} onClick={reply}>
                💬
              </button>
            )}
          </>
        )}
        <Menu
          label={say('moreActions')}
          class="icon"
          items={message.is_ephemeral ? items.slice(seen.app.shortcuts.length) : items}
        >
          ⋮
        </Menu>
      </div>
    </li>
  );
}

function Body({ message }: { message: Message }): VNode {
  const { say } = usePage();
  const live = message.streaming_state === 'in_progress';
  return (
    <div class={`body ${live ? 'streaming' : ''}`} aria-busy={live}>
      {message.blocks?.length ? (
        <BlockForm blocks={message.blocks} message={{ channel: message.channel, ts: message.ts }} />
      ) : (
        message.text && <Mrkdwn source={message.text} />
      )}
      {(message.attachments ?? []).map((attachment) => (
        <div class="attachment">
          {attachment.blocks ? (
            <BlockForm blocks={attachment.blocks} message={{ channel: message.channel, ts: message.ts }} />
          ) : (
            <Mrkdwn source={attachment.text ?? attachment.fallback ?? ''} />
          )}
        </div>
      ))}
      {(message.files ?? []).map((file) => (
        <div class="file">📄 {file.title || file.name || file.id}</div>
      ))}
      {!message.blocks?.length && !message.text && !message.attachments?.length && !live && (
        <Unknown words={say('nothing')} />
      )}
    </div>
  );
}

function Editor({ message, onEnd }: { message: Message; onEnd: () => void }): VNode {
  const { seen, say, act } = usePage();
  const names = message.text
    .replace(/<@(\w+)>/g, (whole, id) => `@${userOf(seen, id)?.name ?? whole}`)
    .replace(/<(https?:[^|>]+)(\|[^>]*)?>/g, '$1')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');
  const [text, setText] = useState(names);
  const save = (): void => {
    void act('edit', { channel: message.channel, ts: message.ts, text });
    onEnd();
  };
  return (
    <div class="editor">
      <textarea
        class="field"
        aria-label={say('edit')}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="row">
        <button type="button" class="button" onClick={onEnd}>
          {say('cancel')}
        </button>
        <button type="button" class="button primary" onClick={save}>
          {say('save')}
        </button>
      </div>
    </div>
  );
}

function Reactions({ message }: { message: Message }): VNode | null {
  const { seen, act } = usePage();
  if (!message.reactions?.length) return null;
  return (
    <div class="row reactions">
      {message.reactions.map((reaction) => (
        <button
          type="button"
          class={reaction.users.includes(seen.me.id) ? 'reaction own' : 'reaction'}
          onClick={() =>
            void act('react', { channel: message.channel, ts: message.ts, reaction: reaction.name })
          }
        >
          {emoji(reaction.name)} {reaction.count}
        </button>
      ))}
    </div>
  );
}

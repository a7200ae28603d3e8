// The app's own place: its Home tab, the conversations with it, what it says about itself.

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { BlockForm } from './blocks/BlockForm';
import { Composer } from './Composer';
import { ChannelMessages, Deaf, MessageList, sessionOf, SessionStatus, threadOf } from './Conversation';
import { PaneHead } from './PaneHead';
import { channelOf, isReply, timeOf, usePage } from './context';
import { Avatar } from './Avatar';
import type { Channel } from './types';

type Tab = 'home' | 'messages' | 'about';

export function AppPlace({ tab, onBack }: { tab: Tab; onBack: () => void }): VNode {
  const { seen, say, go, act, show } = usePage();
  const direct = channelOf(seen, seen.direct);
  useEffect(() => {
    if (tab !== 'about') void act('open_home', { tab });
  }, [tab, seen.me.id]);
  const tabs: [Tab, string][] = [['home', say('home')], ['messages', say('messages')], ['about', say('about')]];
  return (
    <>
      <header class="pane-head app-head">
        <button type="button" class="icon back" aria-label={say('back')} onClick={onBack}>
          ‹
        </button>
        <Avatar id={seen.app.user_id} size={24} />
        <h1>{seen.app.name}</h1>
        {tab === 'home' && seen.home && (
          <button
            type="button"
            class="icon"
            aria-label={say('inspect')}
            title={say('inspect')}
            onClick={() => seen.home && show({ kind: 'inspect-view', view: seen.home.id })}
          >
            {'{ }'}
          </button>
        )}
      </header>
      <nav class="tabs" aria-label={seen.app.name}>
        {tabs.map(([name, label]) => (
          <button
            type="button"
            aria-current={tab === name ? 'page' : undefined}
            onClick={() => go({ kind: 'app', tab: name })}
          >
            {label}
          </button>
        ))}
      </nav>
      {tab === 'home' && <Home />}
      {tab === 'about' && (
        <div class="scroll about">
          <Avatar id={seen.app.user_id} size={64} />
          <p>{seen.app.description}</p>
          <h2>{say('commands')}</h2>
          <ul>
            {seen.app.commands.map((command) => (
              <li>
                <code>
                  {command.command} {command.usage_hint}
                </code>{' '}
                {command.description}
              </li>
            ))}
          </ul>
          <h2>{say('shortcuts')}</h2>
          <ul>
            {seen.app.shortcuts.map((shortcut) => (
              <li>{shortcut.name}</li>
            ))}
          </ul>
        </div>
      )}
      {tab === 'messages' && direct && <Messages direct={direct} />}
    </>
  );
}

function Home(): VNode {
  const { seen, say } = usePage();
  return (
    <div class="scroll home" tabIndex={0} role="region" aria-label={say('home')}>
      {seen.home ? (
        <BlockForm blocks={seen.home.blocks} key={seen.me.id} kept={seen.home.state.values} />
      ) : (
        <p class="dim">{say('homeEmpty')}</p>
      )}
    </div>
  );
}

function Messages({ direct }: { direct: Channel }): VNode {
  const { seen, say } = usePage();
  const [session, setSession] = useState<string | null>(null);
  if (seen.app.is_agent && !seen.me.is_guest) {
    return <Agent direct={direct} session={session} onSession={setSession} />;
  }
  return (
    <div class="plain-direct">
      {seen.app.is_agent && <div class="banner top">{say('guestNoAgent')}</div>}
      <ChannelMessages channel={direct} />
    </div>
  );
}

/** Beside a channel: the agent's conversations, with what one looks at told to the app. */
export function AgentPane({ ts }: { ts: string | null }): VNode {
  const { seen, act, show } = usePage();
  const direct = channelOf(seen, seen.direct);
  useEffect(() => {
    void act('open_home', { tab: 'messages' });
  }, [seen.me.id]);
  return (
    <>
      <PaneHead>
        <Avatar id={seen.app.user_id} size={24} /> {seen.app.name}
      </PaneHead>
      {direct && (
        <Agent
          direct={direct}
          session={ts}
          onSession={(session) => show({ kind: 'agent', ts: session })}
        />
      )}
    </>
  );
}

interface AgentProps {
  direct: Channel;
  session: string | null;
  onSession: (ts: string | null) => void;
}

function Agent({ direct, session, onSession }: AgentProps): VNode {
  const { seen, say, act } = usePage();
  // The root of a new chat is known once it is seen; until then, the number of roots before it.
  const awaited = useRef<string | null>(null);
  const roots = direct.messages.filter((message) => !isReply(message) && !message.is_ephemeral);
  const newest = roots.at(-1)?.ts ?? '';
  useEffect(() => {
    if (awaited.current !== null && newest > awaited.current) {
      awaited.current = null;
      onSession(newest);
    }
  }, [newest]);
  const open = (text: string): void => {
    if (session) {
      void act('say', { channel: direct.id, text, thread_ts: session });
      return;
    }
    awaited.current = newest;
    void act('say', { channel: direct.id, text });
  };
  const title = (ts: string, text: string): string =>
    sessionOf(seen.sessions, direct.id, ts)?.title || text.slice(0, 60) || timeOf(seen, ts);
  return (
    <div class="agent">
      <div class="agent-bar">
        <button type="button" class="button small" onClick={() => onSession(null)} disabled={!session}>
          + {say('newChat')}
        </button>
        {roots.length > 0 && (
          <select
            class="field"
            aria-label={say('history')}
            value={session ?? ''}
            onChange={(event) => onSession(event.currentTarget.value || null)}
          >
            <option value="">{say('history')}</option>
            {[...roots].reverse().map((root) => (
              <option value={root.ts}>{title(root.ts, root.text)}</option>
            ))}
          </select>
        )}
      </div>
      {session ? (
        <>
          <MessageList messages={threadOf(direct, session)} label={say('messages')} inThread key={session} />
          <SessionStatus channel={direct.id} ts={session} />
        </>
      ) : (
        <Prompts onChoose={open} />
      )}
      <Deaf />
      <Composer
        key={`a-${session}`}
        channel={session ? undefined : direct.id}
        placeholder={session ? say('replyPlaceholder') : say('messageTo', { place: seen.app.name })}
        onSend={open}
        autoFocus
      />
    </div>
  );
}

function Prompts({ onChoose }: { onChoose: (message: string) => void }): VNode {
  const { seen } = usePage();
  return (
    <div class="scroll prompts">
      <Avatar id={seen.app.user_id} size={48} />
      <p class="greeting">{seen.prompts.title ?? seen.app.description}</p>
      <div class="prompt-list">
        {seen.prompts.prompts.map((prompt) => (
          <button type="button" class="prompt" onClick={() => onChoose(prompt.message)}>
            <strong>{prompt.title}</strong>
            <span>{prompt.message}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

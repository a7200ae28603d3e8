// What is behind a message or a view: its JSON, the limits it uses, the exchange with the app.

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { behind, why } from './api';
import { usePage } from './context';
import type { Json } from './types';
import { Why } from './Why';

type Tab = 'blocks' | 'exchange' | 'why';

export function Inspector({ query, canExplain }: { query: Record<string, string>; canExplain: boolean }): VNode {
  const { seen, say, show } = usePage();
  const [tab, setTab] = useState<Tab>('blocks');
  const [found, setFound] = useState<Json>(null);
  const [error, setError] = useState('');
  const key = JSON.stringify(query);
  useEffect(() => {
    behind(query)
      .then((answer) => {
        setFound(answer);
        setError('');
      })
      .catch((failure: Error) => setError(failure.message));
  }, [key, seen.change]);
  const tabs: [Tab, string][] = [['blocks', say('blocks')]];
  if (found?.exchange.length) tabs.push(['exchange', say('behind')]);
  if (canExplain && found?.question) tabs.push(['why', say('why')]);
  return (
    <>
      <header class="pane-head">
        <h2>{say('inspect')}</h2>
        <button type="button" class="icon close" aria-label={say('close')} onClick={() => show(null)}>
          ✕
        </button>
      </header>
      <nav class="tabs" aria-label={say('inspect')}>
        {tabs.map(([name, label]) => (
          <button type="button" aria-current={tab === name ? 'page' : undefined} onClick={() => setTab(name)}>
            {label}
          </button>
        ))}
      </nav>
      <div class="scroll inspector" tabIndex={0} role="region" aria-label={say('inspect')}>
        {error && <p class="unknown">{error}</p>}
        {found && tab === 'blocks' && <Limits found={found} />}
        {found && tab === 'exchange' && <Exchange entries={found.exchange} />}
        {found && tab === 'why' && <Explained key={key} query={query} />}
      </div>
    </>
  );
}

function Limits({ found }: { found: Json }): VNode {
  const { say, toast } = usePage();
  const blocks = JSON.stringify(found.json.blocks ?? [], null, 2);
  const limits = fullestFirst(found.limits);
  return (
    <>
      <h3>{say('limits')}</h3>
      <LimitList limits={limits.slice(0, LIMITS_SHOWN)} />
      {limits.length > LIMITS_SHOWN && (
        <details>
          <summary>{say('more', { n: limits.length - LIMITS_SHOWN })}</summary>
          <LimitList limits={limits.slice(LIMITS_SHOWN)} />
        </details>
      )}
      <h3>
        {say('json')}{' '}
        <button
          type="button"
          class="link small"
          onClick={() => void navigator.clipboard.writeText(blocks).then(() => toast('✓'))}
        >
          {say('copy')}
        </button>
      </h3>
      <Code of={blocks} />
      <details>
        <summary>message</summary>
        <Code of={JSON.stringify({ ...found.json, blocks: undefined }, null, 2)} />
      </details>
    </>
  );
}

const LIMITS_SHOWN = 6;

function LimitList({ limits }: { limits: Json[] }): VNode {
  return (
    <ul class="limits">
      {limits.map((limit) => (
        <li>
          <span class="what">{limit.what}</span>
          <meter
            value={limit.used}
            max={limit.most}
            high={limit.most * 0.8}
            aria-label={`${limit.what}: ${limit.used} / ${limit.most}`}
          />
          <span class="number">
            {limit.used} / {limit.most}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** What concerns the whole message first, then the limits that are nearest. */
function fullestFirst(limits: Json[]): Json[] {
  const share = (limit: Json): number =>
    (/^(text|blocks|markdown)$/.test(limit.what) ? 2 : 0) + limit.used / limit.most;
  return [...limits].sort((a, b) => share(b) - share(a));
}

const JSON_PART = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?)/g;

/** JSON with its keys, texts and numbers told apart. */
function Code({ of }: { of: string }): VNode {
  const parts: ComponentChildren[] = [];
  let position = 0;
  for (const match of of.matchAll(JSON_PART)) {
    parts.push(of.slice(position, match.index));
    const [whole, text, colon, word] = match;
    const kind = colon ? 'key' : text ? 'string' : word ? 'word' : 'digits';
    parts.push(<span class={`json-${kind}`}>{text ?? whole}</span>, colon);
    position = match.index + whole.length;
  }
  parts.push(of.slice(position));
  return <pre class="code">{parts}</pre>;
}

const KINDS: Record<string, 'event' | 'command' | 'interaction' | 'call'> = {
  events_api: 'event',
  slash_commands: 'command',
  interactive: 'interaction',
  call: 'call',
};

function Exchange({ entries }: { entries: Json[] }): VNode {
  const { say } = usePage();
  return (
    <ol class="exchange">
      {entries.map((entry) => (
        <li class={`${entry.kind === 'call' ? 'call' : 'event'} ${entry.ok ? '' : 'failed'}`}>
          <details>
            <summary>
              <span class="at">+{(entry.at_s * 1000).toFixed(0)} ms</span>
              <span class="direction">{entry.kind === 'call' ? '←' : '→'}</span>
              <span class="name">{entry.name}</span>
              <span class="dim">
                {say(KINDS[entry.kind] ?? 'event')} · {entry.note}
              </span>
            </summary>
            <Code of={JSON.stringify(entry.detail, null, 2)} />
          </details>
        </li>
      ))}
    </ol>
  );
}

function Explained({ query }: { query: Record<string, string> }): VNode {
  const { say } = usePage();
  const [found, setFound] = useState<Json>(null);
  const [error, setError] = useState('');
  useEffect(() => {
    why(query)
      .then(setFound)
      .catch((failure: Error) => setError(failure.message));
  }, []);
  if (error) return <p class="unknown">{error}</p>;
  return found ? <Why explanation={found} /> : <p class="dim">{say('explaining')}</p>;
}

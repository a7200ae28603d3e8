// What is behind a message or a view: its JSON, the limits it uses, the exchange with the app.

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { behind, why } from './api';
import { usePage } from './context';
import { PaneHead } from './PaneHead';
import type { Json } from './types';
import { Why } from './Why';

type Tab = 'blocks' | 'exchange' | 'why';

interface Props {
  query: Record<string, string>;
  canExplain: boolean;
}

export function Inspector(props: Props): VNode {
  const { say } = usePage();
  return (
    <>
      <PaneHead focused>{say('inspect')}</PaneHead>
      <Inspected {...props} />
    </>
  );
}

/** Its tabs and what they show, for a pane or for a modal that shows itself. */
export function Inspected({ query, canExplain }: Props): VNode {
  const { seen, say } = usePage();
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
        <summary>{say('envelope')}</summary>
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

const ms = (seconds: number): string => (seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0);

/** Where an entry stands in the time that all of them took. */
const barOf = (entry: Json, end: number): Record<string, string> => ({
  left: `min(${(entry.at_s / end) * 100}%, 100% - 4px)`,
  width: `${((entry.took_s ?? 0) / end) * 100}%`,
});

function Exchange({ entries }: { entries: Json[] }): VNode {
  const { say } = usePage();
  const end = Math.max(0.001, ...entries.map((entry) => entry.at_s + (entry.took_s ?? 0)));
  return (
    <ol class="exchange">
      {entries.map((entry) => (
        <li class={`${entry.kind === 'call' ? 'call' : 'event'} ${entry.ok ? '' : 'failed'}`}>
          <details>
            <summary>
              <span class="direction" role="img" aria-label={say(entry.kind === 'call' ? 'fromApp' : 'toApp')}>
                {entry.kind === 'call' ? '←' : '→'}
              </span>
              <span class="name">{entry.name}</span>
              <span class="dim note">
                {say(KINDS[entry.kind] ?? 'event')} · {entry.note}
              </span>
              <span class="at">
                +{ms(entry.at_s)} ms
                {entry.took_s != null && <small> · {say('took', { ms: ms(entry.took_s) })}</small>}
              </span>
              <span class="when" aria-hidden="true">
                <span style={barOf(entry, end)} />
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

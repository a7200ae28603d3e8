// Slack's text formats as elements: plain text, mrkdwn, rich text, Markdown. Nothing is ever
// taken for HTML.

import { marked, type Token, type Tokens } from 'marked';
import type { ComponentChildren, VNode } from 'preact';
import { usePage, userOf, channelOf } from '../context';
import type { Json } from '../types';
import { emoji, withEmoji } from './emoji';

const LINK = /^(https?:|mailto:)/i;

export function Link({ url, children }: { url: string; children?: ComponentChildren }): VNode {
  const { openLink } = usePage();
  const label = children ?? url.replace(/^mailto:/, '');
  if (!LINK.test(url)) return <span class="not-a-link">{label}</span>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      onClick={(event) => {
        if (!event.ctrlKey && !event.metaKey && openLink(url)) event.preventDefault();
      }}
    >
      {label}
    </a>
  );
}

export function Mention({ id }: { id: string }): VNode {
  const { seen } = usePage();
  const user = userOf(seen, id);
  const own = id === seen.me.id;
  return <span class={own ? 'mention own' : 'mention'}>@{user?.real_name ?? id}</span>;
}

function ChannelLink({ id, label }: { id: string; label?: string }): VNode {
  const { seen, go } = usePage();
  const channel = channelOf(seen, id);
  const name = `#${channel?.name || label || id}`;
  if (!channel) return <span class="mention">{name}</span>;
  return (
    <button type="button" class="mention" onClick={() => go({ kind: 'channel', id })}>
      {name}
    </button>
  );
}

function SlackDate({ ts, format, fallback }: { ts: string; format: string; fallback: string }): VNode {
  const { locale, tz } = usePage().seen.me;
  const moment = new Date(Number(ts) * 1000);
  if (Number.isNaN(moment.getTime())) return <>{fallback}</>;
  const as = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat(locale, { timeZone: tz, ...options }).format(moment);
  const named: Record<string, Intl.DateTimeFormatOptions> = {
    date_num: { year: 'numeric', month: '2-digit', day: '2-digit' },
    date: { dateStyle: 'long' },
    date_pretty: { dateStyle: 'long' },
    date_short: { dateStyle: 'medium' },
    date_short_pretty: { dateStyle: 'medium' },
    date_long: { dateStyle: 'full' },
    date_long_pretty: { dateStyle: 'full' },
    time: { timeStyle: 'short' },
    time_secs: { timeStyle: 'medium' },
  };
  const shown = format.replace(/\{(\w+)\}/g, (whole, name) => (named[name] ? as(named[name]) : whole));
  return <time dateTime={moment.toISOString()}>{shown}</time>;
}

const unescape = (text: string): string =>
  text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');

/** What stands between `<` and `>`. */
function Live({ token }: { token: string }): VNode {
  const bar = token.indexOf('|');
  const target = bar < 0 ? token : token.slice(0, bar);
  const label = bar < 0 ? undefined : withEmoji(unescape(token.slice(bar + 1)));
  if (target.startsWith('@')) return <Mention id={target.slice(1)} />;
  if (target.startsWith('#')) return <ChannelLink id={target.slice(1)} label={label} />;
  if (target.startsWith('!date^')) {
    const [, ts, format, url] = target.split('^');
    const date = <SlackDate ts={ts} format={format} fallback={label ?? ts} />;
    return url ? <Link url={url}>{date}</Link> : date;
  }
  if (target.startsWith('!')) {
    const range = target.replace(/^!(subteam\^)?/, '');
    return <span class="mention broadcast">{label ?? `@${range}`}</span>;
  }
  return <Link url={unescape(target)}>{label ?? unescape(target).replace(/^mailto:/, '')}</Link>;
}

const INLINE = new RegExp(
  [
    '<(?<token>[@#!][^<>]+|https?:[^<>]+|mailto:[^<>]+)>',
    '`(?<code>[^`\\n]+)`',
    '(?<![\\p{L}\\p{N}*])\\*(?<bold>(?=\\S)[^*\\n]*[^*\\s])\\*(?![\\p{L}\\p{N}*])',
    '(?<![\\p{L}\\p{N}_])_(?<italic>(?=\\S)[^_\\n]*[^_\\s])_(?![\\p{L}\\p{N}_])',
    '(?<![\\p{L}\\p{N}~])~(?<strike>(?=\\S)[^~\\n]*[^~\\s])~(?![\\p{L}\\p{N}~])',
  ].join('|'),
  'gu',
);

function inline(source: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let position = 0;
  for (const match of source.matchAll(INLINE)) {
    parts.push(withEmoji(unescape(source.slice(position, match.index))));
    const { token, code, bold, italic, strike } = match.groups ?? {};
    if (token) parts.push(<Live token={token} />);
    else if (code) parts.push(<code>{unescape(code)}</code>);
    else if (bold) parts.push(<strong>{inline(bold)}</strong>);
    else if (italic) parts.push(<em>{inline(italic)}</em>);
    else if (strike) parts.push(<s>{inline(strike)}</s>);
    position = match.index + match[0].length;
  }
  parts.push(withEmoji(unescape(source.slice(position))));
  return parts;
}

export function Mrkdwn({ source }: { source: string }): VNode {
  const parts: VNode[] = [];
  for (const [index, piece] of source.split(/```/).entries()) {
    if (index % 2 === 1) {
      parts.push(<pre>{unescape(piece.replace(/^\n/, ''))}</pre>);
      continue;
    }
    // Lines with the mark of a quote stand together.
    const groups = piece.match(/(?:(?:^|\n)&gt; ?[^\n]*)+|(?:(?:^|\n)(?!&gt;)[^\n]*)+|[^\n]+/g) ?? [];
    for (const group of groups) {
      const text = group.replace(/^\n/, '');
      if (text.startsWith('&gt;')) {
        parts.push(<blockquote>{inline(text.replace(/^&gt; ?/gm, ''))}</blockquote>);
      } else if (text) {
        parts.push(<span class="line">{inline(text)}</span>);
      }
    }
  }
  return <div class="text">{parts}</div>;
}

/** A text object of either type. */
export function TextObject({ of }: { of: Json }): VNode {
  if (typeof of === 'string') return <div class="text">{withEmoji(of)}</div>;
  if (of?.type === 'mrkdwn') return <Mrkdwn source={of.text} />;
  return <div class="text">{plain(of)}</div>;
}

export const plain = (of: Json): string =>
  of?.emoji === false ? (of.text ?? '') : withEmoji(of?.text ?? (typeof of === 'string' ? of : ''));

// Rich text

function Styled({ style, children }: { style?: Json; children: ComponentChildren }): VNode {
  let shown = <>{children}</>;
  if (style?.code) shown = <code>{shown}</code>;
  if (style?.bold) shown = <strong>{shown}</strong>;
  if (style?.italic) shown = <em>{shown}</em>;
  if (style?.strike) shown = <s>{shown}</s>;
  if (style?.underline) shown = <u>{shown}</u>;
  return shown;
}

function RichElement({ of }: { of: Json }): VNode {
  const { say } = usePage();
  switch (of.type) {
    case 'text':
      return <Styled style={of.style}>{of.text}</Styled>;
    case 'link':
      return (
        <Styled style={of.style}>
          <Link url={of.url}>{of.text}</Link>
        </Styled>
      );
    case 'user':
      return <Mention id={of.user_id} />;
    case 'usergroup':
      return <span class="mention">@{of.usergroup_id}</span>;
    case 'channel':
      return <ChannelLink id={of.channel_id} />;
    case 'broadcast':
      return <span class="mention broadcast">@{of.range}</span>;
    case 'emoji':
      return <span>{of.unicode ? fromCodes(of.unicode) : emoji(of.name)}</span>;
    case 'date':
      return <SlackDate ts={String(of.timestamp)} format={of.format} fallback={of.fallback ?? ''} />;
    case 'color':
      return <code>{of.value}</code>;
    case 'team':
      return <span class="mention">@{of.team_id}</span>;
    default:
      return <span class="unknown">{say('unknownElement', { type: of.type })}</span>;
  }
}

const fromCodes = (codes: string): string =>
  String.fromCodePoint(...codes.split('-').map((code) => Number.parseInt(code, 16)));

const RichElements = ({ of }: { of: Json[] }): VNode => (
  <>
    {(of ?? []).map((element) => (
      <RichElement of={element} />
    ))}
  </>
);

const ORDERED = ['decimal', 'lower-alpha', 'lower-roman'];

export function RichText({ block }: { block: Json }): VNode {
  const { say } = usePage();
  return (
    <div class="rich">
      {(block.elements ?? []).map((part: Json) => {
        switch (part.type) {
          case 'rich_text_section':
            return (
              <div class="text">
                <RichElements of={part.elements} />
              </div>
            );
          case 'rich_text_quote':
            return (
              <blockquote>
                <RichElements of={part.elements} />
              </blockquote>
            );
          case 'rich_text_preformatted':
            return (
              <pre>
                <RichElements of={part.elements} />
              </pre>
            );
          case 'rich_text_list': {
            const items = part.elements.map((item: Json) => (
              <li>
                <RichElements of={item.elements} />
              </li>
            ));
            const indent = part.indent ?? 0;
            return part.style === 'ordered' ? (
              <ol class={`indent-${indent} list-${ORDERED[indent % 3]}`} start={(part.offset ?? 0) + 1}>
                {items}
              </ol>
            ) : (
              <ul class={`indent-${indent}`}>{items}</ul>
            );
          }
          default:
            return <Unknown words={say('unknownElement', { type: part.type })} />;
        }
      })}
    </div>
  );
}

export const Unknown = ({ words }: { words: string }): VNode => (
  <div class="unknown" role="alert">
    ⚠ {words}
  </div>
);

// Markdown

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };
const decoded = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name) => ENTITIES[name]);

/** Text of Markdown, in which Slack's own tokens stay live. */
function leaf(text: string): ComponentChildren[] {
  return text
    .split(/(<(?:[@#!][^<>\s]+(?:\|[^<>]*)?|https?:[^<>|]+\|[^<>]+)>)/)
    .map((piece, index) => (index % 2 ? <Live token={piece.slice(1, -1)} /> : withEmoji(decoded(piece))));
}

function MarkdownTokens({ of, under }: { of: Token[] | undefined; under?: number }): VNode {
  return (
    <>
      {(of ?? []).map((token) => (
        <MarkdownToken of={token as Tokens.Generic} under={under} />
      ))}
    </>
  );
}

function MarkdownToken({ of, under = 1 }: { of: Tokens.Generic; under?: number }): VNode | null {
  const inner = <MarkdownTokens of={of.tokens} />;
  switch (of.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      // The page has its own outline; the role keeps the level for screen readers.
      return (
        <div class={`md-heading h${of.depth}`} role="heading" aria-level={Math.min((of.level ?? of.depth) + under, 6)}>
          {inner}
        </div>
      );
    case 'paragraph':
      return <p>{inner}</p>;
    case 'blockquote':
      return <blockquote>{inner}</blockquote>;
    case 'code':
      return <pre>{of.text}</pre>;
    case 'hr':
      return <hr />;
    case 'list': {
      const items = of.items.map((item: Tokens.ListItem) => (
        <li class={item.task ? 'task' : undefined}>
          {item.task && <span>{item.checked ? '☑ ' : '☐ '}</span>}
          <MarkdownTokens of={item.tokens.filter((token) => token.type !== 'checkbox')} />
        </li>
      ));
      return of.ordered ? <ol start={of.start || 1}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table':
      return (
        <div class="table" tabIndex={0} role="group">
          <table>
            <thead>
              <tr>
                {of.header.map((cell: Tokens.TableCell) => (
                  <th scope="col" class={cell.align ?? undefined}>
                    <MarkdownTokens of={cell.tokens} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {of.rows.map((row: Tokens.TableCell[]) => (
                <tr>
                  {row.map((cell) => (
                    <td class={cell.align ?? undefined}>
                      <MarkdownTokens of={cell.tokens} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case 'strong':
      return <strong>{inner}</strong>;
    case 'em':
      return <em>{inner}</em>;
    case 'del':
      return <s>{inner}</s>;
    case 'codespan':
      return <code>{decoded(of.text)}</code>;
    case 'br':
      return <br />;
    case 'link':
      if (of.raw.startsWith('<') && of.raw.includes('|')) return <Live token={of.raw.slice(1, -1)} />;
      return <Link url={of.href}>{inner}</Link>;
    case 'image':
      return <Link url={of.href}>{of.text || of.href}</Link>;
    case 'text':
      return of.tokens ? inner : <>{leaf(of.text)}</>;
    default:
      // Raw HTML, escapes and the like: shown as they were written.
      return <>{leaf(of.text ?? of.raw)}</>;
  }
}

/** Headings one below the other, however deep they begin: screen readers tell a gap as a loss. */
function withoutGaps(tokens: Token[]): Token[] {
  let above = 0;
  return tokens.map((token) => {
    if (token.type !== 'heading') return token;
    above = Math.min(token.depth, above + 1);
    return { ...token, level: above };
  });
}

/** Markdown whose headings stand under the page's own of level `under`. */
export function Markdown({ source, under }: { source: string; under?: number }): VNode {
  return (
    <div class="markdown">
      <MarkdownTokens of={withoutGaps(marked.lexer(source, { gfm: true }))} under={under} />
    </div>
  );
}

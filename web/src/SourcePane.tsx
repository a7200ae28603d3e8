import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { getSource, sourceAddress } from './api';
import { Markdown } from './blocks/Text';
import { usePage } from './context';
import { PaneHead } from './PaneHead';

/** A page of the handbook, opened from a source of an answer. */
export function SourcePane({ url }: { url: string }): VNode {
  const { say } = usePage();
  const [page, setPage] = useState<{ name: string; text: string | null } | null>(null);
  const [error, setError] = useState('');
  useEffect(() => {
    setPage(null);
    setError('');
    getSource(url)
      .then(setPage)
      .catch((failure: Error) => setError(failure.message));
  }, [url]);
  const pane = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const anchor = decodeURIComponent(url.split('#')[1] ?? '');
    const headings = [...(pane.current?.querySelectorAll('.md-heading') ?? [])];
    const target = anchor && headings.find((heading) => slug(heading.textContent) === slug(anchor));
    if (!target) return;
    target.classList.add('target');
    target.scrollIntoView({ block: 'start' });
  }, [page, url]);
  return (
    <>
      <PaneHead focused>
        {say('source')} <span class="dim">{page?.name}</span>
      </PaneHead>
      <div class="scroll source" ref={pane} tabIndex={0} role="region" aria-label={say('source')}>
        <p class="dim address">{url}</p>
        {error && <p class="unknown">{error}</p>}
        {page?.text === null && (
          <p>
            <a href={sourceAddress(url)}>{say('download')}</a>
          </p>
        )}
        {page?.text != null &&
          (/\.(md|markdown|mdx)$/.test(page.name) ? (
            <Markdown source={withoutFrontMatter(page.text)} under={2} />
          ) : (
            <pre>{page.text}</pre>
          ))}
      </div>
    </>
  );
}

/** A heading as sites write it in addresses, accents and signs aside. */
const slug = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().match(/[\p{L}\p{N}]+/gu)?.join('-') ?? '';

const withoutFrontMatter = (text: string): string => text.replace(/^---\n[\s\S]*?\n---\n/, '');

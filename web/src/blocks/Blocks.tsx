// Every type of block; one that is unknown is an error to be seen, never dropped.

import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import { usePage } from '../context';
import type { Json } from '../types';
import { Element, Picture } from './Elements';
import { useForm } from './form';
import { Link, Markdown, plain, RichText, TextObject, Unknown } from './Text';

export function Blocks({ blocks }: { blocks: Json[] }): VNode {
  return (
    <div class="blocks">
      {blocks.map((block, index) => (
        <div class={`block block-${block.type}`} key={block.block_id ?? index}>
          <BlockOf block={block} />
        </div>
      ))}
    </div>
  );
}

function BlockOf({ block }: { block: Json }): VNode {
  const { say } = usePage();
  switch (block.type) {
    case 'rich_text':
      return <RichText block={block} />;
    case 'section':
      return <Section block={block} />;
    case 'header':
      return (
        <div class="header" role="heading" aria-level={2}>
          {plain(block.text)}
        </div>
      );
    case 'divider':
      return <hr />;
    case 'context':
      return (
        <div class="context">
          {block.elements.map((element: Json) =>
            element.type === 'image' ? (
              <Picture url={element.image_url} alt={element.alt_text} />
            ) : (
              <TextObject of={element} />
            ),
          )}
        </div>
      );
    case 'actions':
    case 'context_actions':
      return (
        <div class="row">
          {block.elements.map((element: Json) => (
            <Element element={element} blockId={block.block_id} />
          ))}
        </div>
      );
    case 'markdown':
      return <Markdown source={block.text} />;
    case 'image':
      return (
        <figure>
          {block.title && <figcaption>{plain(block.title)}</figcaption>}
          <Picture url={block.image_url} alt={block.alt_text} />
        </figure>
      );
    case 'input':
      return <InputBlock block={block} />;
    case 'table':
    case 'data_table':
      return <Table block={block} />;
    case 'plan':
      return (
        <div class="plan">
          {block.title && <div class="plan-title">{block.title}</div>}
          {(block.tasks ?? []).map((task: Json) => (
            <Task task={task} />
          ))}
        </div>
      );
    case 'task_card':
      return <Task task={block} />;
    case 'card':
      return <Card card={block} />;
    case 'carousel':
      return (
        <div class="carousel" tabIndex={0} role="group">
          {block.elements.map((card: Json) => (
            <Card card={card} />
          ))}
        </div>
      );
    case 'container':
      return <Container block={block} />;
    case 'alert':
      return (
        <div class={`alert ${block.level ?? 'default'}`} role="note">
          <TextObject of={block.text} />
        </div>
      );
    case 'file':
      return <div class="file">📄 {block.external_id}</div>;
    case 'video':
      return (
        <figure>
          <figcaption>
            <Link url={block.title_url ?? block.video_url}>{plain(block.title)}</Link>
          </figcaption>
          {block.description && <TextObject of={block.description} />}
          <Picture url={block.thumbnail_url} alt={block.alt_text} title={`▶ ${block.alt_text}`} />
        </figure>
      );
    case 'data_visualization':
      return <Chart block={block} />;
    default:
      return <Unknown words={say('unknownBlock', { type: String(block.type) })} />;
  }
}

function Section({ block }: { block: Json }): VNode {
  const { say } = usePage();
  const [open, setOpen] = useState(false);
  const long = (block.text?.text.length ?? 0) > 700 && !block.expand;
  return (
    <div class="section">
      <div class="section-body">
        {block.text && (
          <div class={long && !open ? 'folded' : ''}>
            <TextObject of={block.text} />
          </div>
        )}
        {long && !open && (
          <button type="button" class="link" onClick={() => setOpen(true)}>
            {say('seeMore')}
          </button>
        )}
        {block.fields && (
          <div class="fields">
            {block.fields.map((field: Json) => (
              <TextObject of={field} />
            ))}
          </div>
        )}
      </div>
      {block.accessory && <Element element={block.accessory} blockId={block.block_id} />}
    </div>
  );
}

function InputBlock({ block }: { block: Json }): VNode {
  const { say } = usePage();
  const form = useForm();
  const id = useId();
  const error = form.errors[block.block_id];
  const described = [block.hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class={`input ${error ? 'wrong' : ''}`}>
      <div class="label" id={`${id}-label`}>
        {plain(block.label)} {block.optional && <span class="dim">{say('optional')}</span>}
      </div>
      <Element
        element={block.element}
        blockId={block.block_id}
        waits={!block.dispatch_action}
        labelledBy={`${id}-label`}
        describedBy={described || undefined}
      />
      {block.hint && (
        <div class="hint" id={`${id}-hint`}>
          {plain(block.hint)}
        </div>
      )}
      {error && (
        <div class="field-error" id={`${id}-error`} role="alert">
          ⚠ {error}
        </div>
      )}
    </div>
  );
}

function Cell({ cell }: { cell: Json }): ComponentChildren {
  if (cell?.type === 'rich_text') return <RichText block={cell} />;
  if (cell?.type === 'raw_number') return String(cell.text ?? cell.value);
  return plain(cell);
}

function Table({ block }: { block: Json }): VNode {
  const [head, ...rows] = block.rows;
  const aligned = (column: number): string | undefined => block.column_settings?.[column]?.align;
  return (
    <div class="table" tabIndex={0} role="group" aria-label={plain(block.caption) || undefined}>
      <table>
        {block.caption && <caption>{plain(block.caption)}</caption>}
        <thead>
          <tr>
            {head.map((cell: Json, column: number) => (
              <th scope="col" class={aligned(column)}>
                <Cell cell={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row: Json[]) => (
            <tr>
              {row.map((cell, column) => (
                <td class={aligned(column)}>
                  <Cell cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const MARKS: Record<string, string> = { pending: '○', in_progress: '◔', complete: '✓', error: '✕' };

function Task({ task }: { task: Json }): VNode {
  const status = task.status ?? 'pending';
  const body = (part: Json): VNode =>
    typeof part === 'string' ? <Markdown source={part} /> : <RichText block={part} />;
  return (
    <div class={`task ${status}`}>
      <span class="mark" role="img" aria-label={status}>
        {MARKS[status] ?? '○'}
      </span>
      <div>
        <div class="task-title">{task.title}</div>
        {task.details && <div class="dim">{body(task.details)}</div>}
        {task.output && body(task.output)}
        {task.sources && (
          <div class="row">
            {task.sources.map((source: Json) => (
              <span class="chip">
                <Link url={source.url}>{source.text}</Link>
              </span>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

function Card({ card }: { card: Json }): VNode {
  return (
    <div class="card">
      {card.hero_image && <Picture url={card.hero_image.image_url} alt={card.hero_image.alt_text} />}
      <div class="card-head">
        {card.icon && <Picture url={card.icon.image_url} alt={card.icon.alt_text} />}
        <div>
          {card.title && (
            <div class="card-title">
              <TextObject of={card.title} />
            </div>
          )}
          {card.subtitle && (
            <div class="dim">
              <TextObject of={card.subtitle} />
            </div>
          )}
        </div>
      </div>
      {card.body && <TextObject of={card.body} />}
      {card.actions && (
        <div class="row">
          {card.actions.map((element: Json) => (
            <Element element={element} blockId={card.block_id} />
          ))}
        </div>
      )}
    </div>
  );
}

function Container({ block }: { block: Json }): VNode {
  const title = block.rich_text_title ? (
    <RichText block={block.rich_text_title} />
  ) : (
    block.title && <strong>{plain(block.title)}</strong>
  );
  const body = (
    <>
      {block.subtitle && (
        <div class="dim">
          <TextObject of={block.subtitle} />
        </div>
      )}
      <Blocks blocks={block.child_blocks} />
    </>
  );
  if (!block.is_collapsible) {
    return (
      <div class="container">
        {title}
        {body}
      </div>
    );
  }
  return (
    <details class="container" open={!block.default_collapsed}>
      <summary>{title}</summary>
      {body}
    </details>
  );
}

function Chart({ block }: { block: Json }): VNode {
  const chart = block.chart ?? {};
  const series: Json[] = chart.series ?? [{ name: '', data: chart.segments ?? [] }];
  const largest = Math.max(1, ...series.flatMap((one) => one.data.map((point: Json) => point.value)));
  return (
    <figure class="chart">
      <figcaption>{plain(block.title)}</figcaption>
      {series.map((one) => (
        <div>
          {one.name && <div class="dim">{one.name}</div>}
          {one.data.map((point: Json) => (
            <div class="bar-row">
              <span>{point.label}</span>
              <meter value={point.value} max={largest} aria-label={point.label} />
              <span class="number">{point.value}</span>
            </div>
          ))}
        </div>
      ))}
    </figure>
  );
}

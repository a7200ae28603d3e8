// Interactive elements: buttons, selects, pickers, inputs, feedback, overflow.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { usePage } from '../context';
import { Menu } from '../Menu';
import type { Json } from '../types';
import { Confirm } from './Confirm';
import { optionsOf, useForm, valueOf } from './form';
import { plain, Unknown } from './Text';

interface Props {
  element: Json;
  blockId: string;
  /** Changes wait for the submission instead of being sent to the app at once. */
  waits?: boolean;
  labelledBy?: string;
  describedBy?: string;
}

export function Element(props: Props): VNode {
  const { say } = usePage();
  const { element } = props;
  switch (element.type) {
    case 'button':
    case 'workflow_button':
      return <Button element={element} />;
    case 'overflow':
      return <Overflow element={element} />;
    case 'feedback_buttons':
      return <Feedback element={element} />;
    case 'icon_button':
      return <IconButton element={element} />;
    case 'image':
      return <Picture url={element.image_url} alt={element.alt_text} />;
    case 'checkboxes':
    case 'radio_buttons':
    case 'multi_static_select':
    case 'multi_users_select':
    case 'multi_channels_select':
    case 'multi_conversations_select':
      return <Choices {...props} />;
    case 'static_select':
    case 'users_select':
    case 'channels_select':
    case 'conversations_select':
      return <Select {...props} />;
    case 'plain_text_input':
    case 'rich_text_input':
    case 'number_input':
    case 'email_text_input':
    case 'url_text_input':
    case 'datepicker':
    case 'timepicker':
    case 'datetimepicker':
      return <Input {...props} />;
    default:
      return <Unknown words={say('unknownElement', { type: element.type })} />;
  }
}

/** Presses something, after asking where the app wants that; tells how it went. */
function usePress(element: Json): {
  press: (value?: Json) => void;
  state: 'idle' | 'busy' | 'failed' | 'done';
  dialog: VNode | null;
} {
  const form = useForm();
  const [state, setState] = useState<'idle' | 'busy' | 'failed' | 'done'>('idle');
  const [asking, setAsking] = useState<{ value?: Json } | null>(null);
  const send = (value?: Json): void => {
    setState('busy');
    form.press(element, value).then((ok) => setState(ok ? 'done' : 'failed'));
  };
  const press = (value?: Json): void => (element.confirm ? setAsking({ value }) : send(value));
  const dialog = asking && (
    <Confirm
      confirm={element.confirm}
      onEnd={(agreed) => {
        setAsking(null);
        if (agreed) send(asking.value);
      }}
    />
  );
  return { press, state, dialog };
}

function Button({ element }: { element: Json }): VNode {
  const { press, state, dialog } = usePress(element);
  const { openLink } = usePage();
  const style = element.style ?? '';
  const shared = {
    class: `button ${style} ${state}`,
    'aria-label': element.accessibility_label,
    'aria-busy': state === 'busy',
  };
  const label = (
    <>
      {plain(element.text)}
      {state === 'failed' && <span title="⚠"> ⚠</span>}
    </>
  );
  if (element.url) {
    return (
      <a
        {...shared}
        href={/^https?:/.test(element.url) ? element.url : undefined}
        target="_blank"
        rel="noopener noreferrer"
        onClick={(event) => {
          if (openLink(element.url)) event.preventDefault();
          if (element.action_id) press(element.value);
        }}
      >
        {label}
      </a>
    );
  }
  return (
    <>
      <button {...shared} type="button" onClick={() => press(element.value)}>
        {label}
      </button>
      {dialog}
    </>
  );
}

function Overflow({ element }: { element: Json }): VNode {
  const { press, dialog } = usePress(element);
  const { say } = usePage();
  const items = optionsOf(element).map((option) => ({
    label: plain(option.text),
    act: () => {
      if (option.url) window.open(option.url, '_blank', 'noopener,noreferrer');
      press(option.value);
    },
  }));
  return (
    <>
      <Menu label={say('moreActions')} items={items} class="button overflow">
        ⋯
      </Menu>
      {dialog}
    </>
  );
}

function Feedback({ element }: { element: Json }): VNode {
  const { press, state } = usePress(element);
  const [pressed, setPressed] = useState<Json>(null);
  const side = (button: Json, icon: VNode): VNode => (
    <button
      type="button"
      class={`feedback ${pressed === button.value ? 'pressed' : ''}`}
      aria-label={button.accessibility_label ?? plain(button.text)}
      aria-pressed={pressed === button.value}
      title={plain(button.text)}
      aria-busy={state === 'busy'}
      onClick={() => {
        setPressed(button.value);
        press(button.value);
      }}
    >
      {icon}
      <span>{plain(button.text)}</span>
    </button>
  );
  return (
    <>
      {side(element.positive_button, <Thumb />)}
      {side(element.negative_button, <Thumb down />)}
    </>
  );
}

const Thumb = ({ down }: { down?: boolean }): VNode => (
  <svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true" class={down ? 'down' : ''}>
    <path
      d="M6 9v8M6 9l3.500-6c1.500 0 2.300 1 2 2.500L11 8h4.500c1 0 1.700.9 1.500 1.900l-1.100 5.500c-.2.900-1 1.600-2 1.600H6M6 9H3v8h3"
      fill="none"
      stroke="currentColor"
      stroke-width="1.500"
      stroke-linejoin="round"
    />
  </svg>
);

function IconButton({ element }: { element: Json }): VNode | null {
  const { press, state, dialog } = usePress(element);
  const { seen } = usePage();
  const allowed = element.visible_to_user_ids;
  if (allowed && !allowed.includes(seen.me.id)) return null;
  const label = element.accessibility_label ?? plain(element.text);
  return (
    <>
      <button
        type="button"
        class={`feedback ${state}`}
        aria-label={label}
        title={plain(element.text)}
        onClick={() => press(element.value)}
      >
        {element.icon === 'trash' ? '🗑' : element.icon}
      </button>
      {dialog}
    </>
  );
}

/** Images of other machines are never fetched; their words and address stand for them. */
export function Picture({ url, alt, title }: { url?: string; alt: string; title?: string }): VNode {
  const { say } = usePage();
  if (url?.startsWith('data:image/')) return <img src={url} alt={alt} />;
  return (
    <span class="picture" role="img" aria-label={alt} title={say('imageNotLoaded')}>
      🖼 {title ?? alt}
    </span>
  );
}

function named(element: Json, seen: ReturnType<typeof usePage>['seen']): Json[] {
  const option = (value: string, text: string): Json => ({ value, text: { type: 'plain_text', text } });
  if (element.type.includes('users_select')) {
    return seen.users.map((user) => option(user.id, user.real_name));
  }
  if (/channels_select|conversations_select/.test(element.type)) {
    return seen.channels.filter((c) => c.kind !== 'im').map((c) => option(c.id, `#${c.name}`));
  }
  return optionsOf(element);
}

function useValue({ element, blockId, waits }: Props): [Json, (value: Json) => void, VNode | null] {
  const form = useForm();
  const { press, dialog } = usePress(element);
  const value = valueOf(element, form.values[blockId]?.[element.action_id]);
  const change = (next: Json): void => {
    form.set(blockId, element, next);
    if (!waits) press(next);
  };
  return [value, change, dialog];
}

function Select(props: Props): VNode {
  const { seen, say } = usePage();
  const { element } = props;
  const [value, change, dialog] = useValue(props);
  const item = (option: Json): VNode => <option value={option.value}>{plain(option.text)}</option>;
  const placeholder = plain(element.placeholder) || say('chooseOption');
  return (
    <>
      <select
        class="field"
        value={value}
        aria-labelledby={props.labelledBy}
        aria-describedby={props.describedBy}
        aria-label={props.labelledBy ? undefined : placeholder}
        onChange={(event) => change(event.currentTarget.value)}
      >
        <option value="" disabled={!props.waits}>
          {placeholder}
        </option>
        {element.option_groups
          ? element.option_groups.map((group: Json) => (
              <optgroup label={plain(group.label)}>{group.options.map(item)}</optgroup>
            ))
          : named(element, seen).map(item)}
      </select>
      {dialog}
    </>
  );
}

function Choices(props: Props): VNode {
  const { seen } = usePage();
  const { element } = props;
  const [value, change, dialog] = useValue(props);
  const single = element.type === 'radio_buttons';
  const chosen: string[] = single ? [value] : value;
  const toggle = (option: string): void => {
    if (single) change(option);
    else change(chosen.includes(option) ? chosen.filter((o) => o !== option) : [...chosen, option]);
  };
  return (
    <div
      class="choices"
      role={single ? 'radiogroup' : 'group'}
      aria-labelledby={props.labelledBy}
      aria-describedby={props.describedBy}
    >
      {named(element, seen).map((option) => (
        <label>
          <input
            type={single ? 'radio' : 'checkbox'}
            name={`${props.blockId}-${element.action_id}`}
            checked={chosen.includes(option.value)}
            onChange={() => toggle(option.value)}
          />
          <span>
            {plain(option.text)}
            {option.description && <small>{plain(option.description)}</small>}
          </span>
        </label>
      ))}
      {dialog}
    </div>
  );
}

const INPUT_TYPES: Record<string, string> = {
  number_input: 'number',
  email_text_input: 'email',
  url_text_input: 'url',
  datepicker: 'date',
  timepicker: 'time',
  datetimepicker: 'datetime-local',
};

function Input(props: Props): VNode {
  const { element } = props;
  const { say } = usePage();
  const form = useForm();
  const [value, change, dialog] = useValue({ ...props, waits: true });
  const placeholder = plain(element.placeholder) || undefined;
  const isMoment = element.type === 'datetimepicker';
  const shown = isMoment && value ? localMoment(value) : String(value ?? '');
  const read = (typed: string): Json => (isMoment && typed ? Date.parse(typed) / 1000 : typed);
  const shared = {
    class: 'field',
    value: shown,
    placeholder,
    maxLength: element.max_length,
    'aria-labelledby': props.labelledBy,
    'aria-describedby': props.describedBy,
    'aria-label': props.labelledBy ? undefined : (placeholder ?? say('field')),
  };
  if (element.multiline || element.type === 'rich_text_input') {
    return <textarea {...shared} rows={4} onInput={(event) => change(event.currentTarget.value)} />;
  }
  const sends = !props.waits;
  return (
    <>
      <input
        {...shared}
        type={(INPUT_TYPES[element.type] ?? 'text') as 'text'}
        min={element.min_value}
        max={element.max_value}
        step={element.is_decimal_allowed ? 'any' : undefined}
        onInput={(event) => change(read(event.currentTarget.value))}
        onChange={(event) => {
          if (sends && INPUT_TYPES[element.type]?.match(/date|time/)) {
            void form.press(element, read(event.currentTarget.value));
          }
        }}
        onKeyDown={(event) => {
          if (!sends || event.key !== 'Enter') return;
          event.preventDefault();
          void form.press(element, read(event.currentTarget.value));
        }}
      />
      {dialog}
    </>
  );
}

function localMoment(seconds: number): string {
  const moment = new Date(seconds * 1000);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

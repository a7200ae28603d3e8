// Short names of the emoji that apps use most; another one is shown by its name, as Slack does.

const EMOJI: Record<string, string> = {
  '+1': '👍', '-1': '👎', thumbsup: '👍', thumbsdown: '👎', white_check_mark: '✅', x: '❌',
  heavy_check_mark: '✔️', warning: '⚠️', no_entry: '⛔', no_entry_sign: '🚫', hourglass: '⌛',
  hourglass_flowing_sand: '⏳', eyes: '👀', wave: '👋', tada: '🎉', bulb: '💡', book: '📖',
  books: '📚', page_facing_up: '📄', link: '🔗', mag: '🔍', lock: '🔒', unlock: '🔓', key: '🔑',
  pushpin: '📌', memo: '📝', pencil: '📝', pencil2: '✏️', speech_balloon: '💬', question: '❓',
  grey_question: '❔', exclamation: '❗', information_source: 'ℹ️', gear: '⚙️', wrench: '🔧',
  arrows_counterclockwise: '🔄', repeat: '🔁', calendar: '📆', date: '📅', clock1: '🕐',
  alarm_clock: '⏰', bell: '🔔', no_bell: '🔕', inbox_tray: '📥', outbox_tray: '📤', mailbox: '📫',
  email: '📧', house: '🏠', office: '🏢', airplane: '✈️', train: '🚋', car: '🚗', palm_tree: '🌴',
  sunny: '☀️', snowflake: '❄️', fire: '🔥', star: '⭐', sparkles: '✨', rocket: '🚀', heart: '❤️',
  smile: '😄', slightly_smiling_face: '🙂', thinking_face: '🤔', cry: '😢', pray: '🙏',
  raised_hands: '🙌', clap: '👏', muscle: '💪', point_right: '👉', arrow_right: '➡️',
  arrow_left: '⬅️', red_circle: '🔴', large_green_circle: '🟢', large_yellow_circle: '🟡',
  large_blue_circle: '🔵', white_circle: '⚪', black_circle: '⚫', busts_in_silhouette: '👥',
  bust_in_silhouette: '👤', robot_face: '🤖', hammer_and_wrench: '🛠️', wastebasket: '🗑️',
  package: '📦', moneybag: '💰', euro: '💶', chart_with_upwards_trend: '📈', bar_chart: '📊',
  clipboard: '📋', triangular_flag_on_post: '🚩', scroll: '📜', family: '👪', baby: '👶',
  hospital: '🏥', computer: '💻', telephone: '☎️', fr: '🇫🇷', gb: '🇬🇧', us: '🇺🇸', es: '🇪🇸',
};

export const REACTIONS = ['+1', 'eyes', 'white_check_mark', 'heart', 'tada'];

export const emoji = (name: string): string => EMOJI[name.split('::')[0]] ?? `:${name}:`;

export const withEmoji = (text: string): string =>
  text.replace(/:([a-z0-9_+-]+):/g, (whole, name) => EMOJI[name] ?? whole);

import { css } from "lit";

/** Everything takes its colours from the page's own text colour, so that light and dark pages both fit. */
export const styles = css`
  :host {
    --_accent: var(--giftcard-pay-accent, #1f4fd1);
    --_radius: var(--giftcard-pay-radius, 0.5rem);
    --_gap: var(--giftcard-pay-gap, 1rem);
    --_border: var(--giftcard-pay-border, color-mix(in srgb, currentcolor 18%, #0000));
    --_surface: var(--giftcard-pay-surface, color-mix(in srgb, currentcolor 4%, #0000));
    --_muted: color-mix(in srgb, currentcolor 72%, #0000);
    --_error: var(--giftcard-pay-error, color-mix(in srgb, #d81b1b 72%, currentcolor));
    display: block;
    line-height: 1.45;
    overflow-wrap: break-word;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  * {
    box-sizing: border-box;
    margin: 0;
    padding: 0;
  }
  .base,
  .field,
  .panel,
  .alert,
  .box,
  .eye,
  dl {
    display: grid;
    align-content: start;
    gap: var(--_gap);
  }
  .field,
  .alert,
  dl {
    gap: 0.375rem;
  }
  fieldset {
    border: 0;
    min-inline-size: 0;
    max-inline-size: 44rem;
  }
  form,
  .pair,
  .actions,
  .row,
  .name {
    display: flex;
    flex-wrap: wrap;
    align-items: end;
    gap: var(--_gap);
  }
  .field,
  .pair {
    flex: 1 19rem;
    min-inline-size: 0;
  }
  .pair {
    gap: 0.5rem;
  }
  .pair .field {
    flex: 1 7rem;
  }
  .pair > button {
    flex: 2 9rem;
    padding-inline: 0.5rem;
  }
  .unsure {
    border-radius: var(--_radius);
    animation: place 3s;
  }
  .unsure > * {
    animation: unsure 3s;
  }
  @keyframes place {
    0% {
      background: #0000;
    }
    10%,
    to {
      background: var(--_surface);
    }
  }
  @keyframes unsure {
    from,
    to {
      opacity: 0;
    }
  }
  input,
  button,
  .panel,
  .alert {
    border: 1px solid var(--giftcard-pay-field-border, color-mix(in srgb, currentcolor 55%, #0000));
    border-radius: var(--_radius);
  }
  input,
  button {
    font: inherit;
    color: inherit;
    min-block-size: 2.75rem;
    min-inline-size: 2.75rem;
    padding: 0.5rem 0.75rem;
    background: var(--_surface);
  }
  button,
  .strong,
  .total {
    font-weight: 600;
  }
  label {
    font-weight: 500;
  }
  input {
    inline-size: 100%;
    background: var(--giftcard-pay-field, #0000);
  }
  input,
  dd,
  .amount {
    font-variant-numeric: tabular-nums;
  }
  input[aria-invalid="true"] {
    border-color: var(--_error);
    box-shadow: inset 0 0 0 1px var(--_error);
  }
  .box > * {
    grid-area: 1 / 1;
    align-self: center;
  }
  /* A number's groups go from left to right in every language. */
  form > .field .box {
    direction: ltr;
  }
  .box .glyph {
    margin-inline-start: 0.75rem;
    pointer-events: none;
  }
  #number {
    padding-inline-start: 2.625rem;
  }
  #pin {
    padding-inline-end: 2.75rem;
  }
  .masked {
    -webkit-text-security: disc;
  }
  svg {
    inline-size: 1.25rem;
    flex: none;
    fill: none;
    stroke: currentcolor;
    stroke-width: 1.75;
  }
  .eye {
    justify-self: end;
    place-items: center;
    place-content: center;
    padding: 0;
    border: 0;
    background: none;
  }
  .eye[aria-pressed="true"] .slash {
    display: none;
  }
  button {
    cursor: pointer;
  }
  button:hover {
    background: color-mix(in srgb, currentcolor 7%, #0000);
  }
  .primary {
    flex: 1 10rem;
    max-inline-size: 18rem;
    color: var(--giftcard-pay-on-accent, #fff);
    background: var(--_accent);
    border-color: var(--_accent);
  }
  .primary:hover {
    background: color-mix(in srgb, var(--_accent) 88%, #000);
  }
  .plain {
    border-color: #0000;
    background: none;
    text-decoration: underline;
    text-underline-offset: 0.2em;
    font-weight: inherit;
    padding-inline: 0.25rem;
    margin-inline: -0.25rem;
  }
  #add,
  #retry,
  .badge {
    justify-self: start;
  }
  fieldset:disabled,
  button[aria-disabled="true"] {
    opacity: 0.7;
    cursor: default;
  }
  .busy::before {
    content: "";
    display: inline-block;
    inline-size: 0.875em;
    block-size: 0.875em;
    margin-inline-end: 0.5em;
    vertical-align: -0.1em;
    border: 2px solid;
    border-inline-end-color: #0000;
    border-radius: 50%;
  }
  @media (prefers-reduced-motion: no-preference) {
    .busy::before {
      animation: turn 0.8s linear infinite;
    }
  }
  @keyframes turn {
    to {
      rotate: 1turn;
    }
  }
  :focus-visible {
    outline: 2px solid var(--giftcard-pay-focus, color-mix(in srgb, var(--_accent) 75%, currentcolor));
    outline-offset: 2px;
  }
  .panel {
    padding: var(--_gap);
    background: var(--_surface);
    border-color: var(--_border);
  }
  .row,
  .name {
    align-items: center;
    gap: 0 1rem;
  }
  dt {
    flex: 1 8rem;
  }
  dd {
    white-space: nowrap;
  }
  .row > :last-child {
    margin-inline-start: auto;
  }
  .note,
  .hint,
  .badge {
    font-size: 0.875em;
  }
  .hint,
  .eye,
  .glyph {
    color: var(--_muted);
  }
  .note {
    padding-inline-start: 0.75rem;
    border-inline-start: 3px solid var(--_accent);
  }
  ul {
    list-style: none;
  }
  li {
    padding-block-end: var(--_gap);
    border-block-end: 1px solid var(--_border);
  }
  li + li {
    padding-block-start: var(--_gap);
  }
  .name {
    flex-wrap: nowrap;
    gap: 0.625rem;
  }
  .name ~ .hint,
  .row ~ .hint {
    margin-block-start: 0.25rem;
    margin-inline-start: 1.875rem;
  }
  .amount {
    text-align: end;
  }
  .amount button {
    margin-block: -0.7rem;
    margin-inline-start: 0.5rem;
  }
  .badge {
    padding: 0 0.5rem;
    border: 1px solid;
    border-radius: 1rem;
  }
  .error {
    color: var(--_error);
  }
  .alert {
    padding: 0.75rem;
    border-color: var(--_error);
    background: color-mix(in srgb, var(--_error) 5%, #0000);
  }
  .silent {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (forced-colors: active) {
    input[aria-invalid="true"] {
      border-width: 3px;
    }
    button[aria-disabled="true"] {
      color: GrayText;
    }
  }
`;

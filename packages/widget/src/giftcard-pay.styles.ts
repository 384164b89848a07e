import { css } from "lit";

/** Everything takes its colours from the page's own text colour, so that light and dark pages both fit. */
export const styles = css`
  :host {
    --_accent: var(--giftcard-pay-accent, #1f4fd1);
    --_radius: var(--giftcard-pay-radius, 0.5rem);
    --_gap: var(--giftcard-pay-gap, 1rem);
    --_border: var(--giftcard-pay-border, color-mix(in srgb, currentcolor 18%, transparent));
    --_muted: color-mix(in srgb, currentcolor 72%, transparent);
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
  form,
  .field,
  .panel {
    display: flex;
    flex-direction: column;
    gap: var(--_gap);
  }
  fieldset {
    border: 0;
    min-inline-size: 0;
  }
  fieldset:disabled {
    opacity: 0.6;
  }
  .unsure {
    animation: unsure 3s;
  }
  @keyframes unsure {
    from,
    to {
      opacity: 0;
    }
  }
  .fields,
  .actions,
  .row,
  .amount {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
  }
  .fields {
    gap: var(--_gap);
    align-items: end;
  }
  .field {
    flex: 1 8rem;
    min-inline-size: 0;
    gap: 0.375rem;
  }
  .wide {
    flex: 3 14rem;
  }
  input,
  button,
  .panel,
  .alert {
    border: 1px solid var(--giftcard-pay-field-border, color-mix(in srgb, currentcolor 55%, transparent));
    border-radius: var(--_radius);
  }
  input,
  button {
    font: inherit;
    color: inherit;
    min-block-size: 2.75rem;
    min-inline-size: 2.75rem;
    padding: 0.5rem 0.75rem;
    background: transparent;
  }
  label,
  button,
  .strong,
  .total {
    font-weight: 600;
  }
  input {
    inline-size: 100%;
    background: var(--giftcard-pay-field, transparent);
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
  .pin,
  .eye {
    display: grid;
  }
  .pin * {
    grid-area: 1 / 1;
  }
  .pin input {
    padding-inline-end: 2.75rem;
  }
  .masked {
    -webkit-text-security: disc;
  }
  .eye {
    justify-self: end;
    place-items: center;
    padding: 0;
    border: 0;
  }
  .eye svg {
    inline-size: 1.25rem;
    fill: none;
    stroke: currentcolor;
    stroke-width: 1.75;
  }
  .eye[aria-pressed="true"] .slash {
    display: none;
  }
  button {
    cursor: pointer;
  }
  button:hover {
    background: color-mix(in srgb, currentcolor 7%, transparent);
  }
  .primary {
    color: var(--giftcard-pay-on-accent, #fff);
    background: var(--_accent);
    border-color: var(--_accent);
  }
  .primary:hover {
    background: color-mix(in srgb, var(--_accent) 88%, #000);
  }
  .plain {
    border-color: transparent;
    text-decoration: underline;
    font-weight: inherit;
    padding-inline: 0.5rem;
  }
  button[aria-disabled="true"] {
    opacity: 0.7;
    cursor: default;
  }
  :focus-visible {
    outline: 2px solid var(--giftcard-pay-focus, color-mix(in srgb, var(--_accent) 75%, currentcolor));
    outline-offset: 2px;
  }
  .grow {
    flex: auto;
  }
  .panel {
    padding: var(--_gap);
    background: var(--giftcard-pay-surface, color-mix(in srgb, currentcolor 4%, transparent));
    border-color: var(--_border);
  }
  .row,
  .amount {
    align-items: center;
    gap: 0 1rem;
  }
  dl {
    display: grid;
    gap: 0.375rem;
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
  .eye {
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
    padding-block: 0.25rem;
    border-block-end: 1px solid var(--_border);
  }
  .amount {
    justify-content: end;
    gap: 0.25rem;
  }
  .amount button {
    margin-inline-end: -0.5rem;
  }
  li .hint {
    padding-block-end: 0.5rem;
  }
  .badge {
    align-self: start;
    padding: 0 0.5rem;
    border: 1px solid;
    border-radius: 1rem;
  }
  .error {
    color: var(--_error);
  }
  .alert {
    display: grid;
    justify-items: start;
    gap: 0.5rem;
    padding: 0.75rem;
    border-color: var(--_error);
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

import { css } from "lit";

/** Everything takes its colours from the page's own text colour, so that light and dark pages both fit. */
export const styles = css`
  :host {
    --_accent: var(--giftcard-pay-accent, #1f4fd1);
    --_radius: var(--giftcard-pay-radius, 0.5rem);
    --_gap: var(--giftcard-pay-gap, 1rem);
    --_border: var(--giftcard-pay-border, color-mix(in srgb, currentcolor 18%, transparent));
    --_field-border: var(--giftcard-pay-field-border, color-mix(in srgb, currentcolor 55%, transparent));
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
  }
  .base,
  form,
  .panel {
    display: flex;
    flex-direction: column;
    gap: var(--_gap);
  }
  fieldset,
  p,
  dl,
  dd,
  ul {
    margin: 0;
    padding: 0;
  }
  fieldset {
    border: 0;
    min-inline-size: 0;
  }
  fieldset:disabled {
    opacity: 0.6;
  }
  .fields {
    display: flex;
    flex-wrap: wrap;
    gap: var(--_gap);
  }
  .field {
    flex: 1 1 8rem;
    min-inline-size: 0;
    display: flex;
    flex-direction: column;
    gap: 0.375rem;
  }
  .field.wide {
    flex: 3 1 14rem;
  }
  input,
  button {
    font: inherit;
    color: inherit;
    min-block-size: 2.75rem;
    min-inline-size: 2.75rem;
    padding: 0.5rem 0.75rem;
    background: transparent;
    border: 1px solid var(--_field-border);
    border-radius: var(--_radius);
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
  .pin {
    position: relative;
  }
  .pin input {
    padding-inline-end: 2.75rem;
  }
  .masked {
    -webkit-text-security: disc;
  }
  .eye {
    position: absolute;
    inset-block: 0;
    inset-inline-end: 0;
    display: grid;
    place-items: center;
    padding: 0;
    border: 0;
    color: var(--_muted);
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
  button.primary {
    color: var(--giftcard-pay-on-accent, #fff);
    background: var(--_accent);
    border-color: var(--_accent);
  }
  button.primary:hover {
    background: color-mix(in srgb, var(--_accent) 88%, #000);
  }
  button.plain {
    border-color: transparent;
    text-decoration: underline;
    font-weight: inherit;
    padding-inline: 0.5rem;
  }
  button[aria-disabled="true"] {
    opacity: 0.7;
    cursor: default;
  }
  input:focus-visible,
  button:focus-visible,
  [tabindex="-1"]:focus-visible {
    outline: 2px solid var(--giftcard-pay-focus, color-mix(in srgb, var(--_accent) 75%, currentcolor));
    outline-offset: 2px;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
  }
  .actions > .grow {
    flex: 1 1 auto;
  }
  .panel {
    padding: var(--_gap);
    background: var(--giftcard-pay-surface, color-mix(in srgb, currentcolor 4%, transparent));
    border: 1px solid var(--_border);
    border-radius: var(--_radius);
  }
  .row {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    align-items: center;
    column-gap: 1rem;
  }
  dl {
    display: grid;
    gap: 0.375rem;
  }
  dl .row {
    flex-wrap: nowrap;
  }
  dd {
    white-space: nowrap;
  }
  .note,
  .hint {
    font-size: 0.875em;
    color: var(--_muted);
  }
  .note {
    color: inherit;
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
  li .amount {
    display: flex;
    align-items: center;
    gap: 0.25rem;
    margin-inline-start: auto;
  }
  li button.plain {
    margin-inline-end: -0.5rem;
  }
  li .hint {
    padding-block-end: 0.5rem;
  }
  .badge {
    align-self: flex-start;
    font-size: 0.875em;
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
    border: 1px solid var(--_error);
    border-radius: var(--_radius);
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
    input,
    button,
    .panel,
    .alert {
      border-color: ButtonBorder;
    }
    input[aria-invalid="true"] {
      border-width: 3px;
    }
    button[aria-disabled="true"] {
      color: GrayText;
    }
  }
`;

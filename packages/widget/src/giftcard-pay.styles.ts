import { css } from "lit";
import { controls } from "./controls.styles.js";

/** The styles of both elements. All colours derive from the page's text colour, so they fit light and dark pages. */
export const styles = css`
  :host {
    --_accent: var(--giftcard-pay-accent, #1f4fd1);
    --_radius: var(--giftcard-pay-radius, 0.5rem);
    --_gap: var(--giftcard-pay-gap, 1rem);
    --_border: var(--giftcard-pay-border, color-mix(in srgb, currentcolor 18%, #0000));
    --_surface: var(--giftcard-pay-surface, color-mix(in srgb, currentcolor 4%, #0000));
    --_muted: color-mix(in srgb, currentcolor 72%, #0000);
    --_error: var(--giftcard-pay-error, color-mix(in srgb, #d81b1b 62%, currentcolor));
    --_notice: var(--giftcard-pay-notice, color-mix(in srgb, #c80 72%, currentcolor));
    display: block;
    line-height: 1.45;
    overflow-wrap: anywhere;
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
  .panel,
  .box,
  .below,
  .eye {
    display: grid;
    grid-template-columns: 100%;
    align-content: start;
    gap: var(--_gap);
  }
  fieldset {
    border: 0;
    min-inline-size: 0;
    max-inline-size: 44rem;
  }
  .line,
  .alert,
  .actions,
  .row {
    display: flex;
    flex-wrap: wrap;
    gap: var(--_gap);
  }
  /* Side by side, the fields align even if a label has two lines or only one field has an error. */
  form {
    grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr));
    gap: 0 var(--_gap);
    margin-block-end: calc(-1 * var(--_gap));
  }
  .field {
    grid-row: span 3;
    grid-template-rows: subgrid;
    gap: 0;
  }
  label {
    align-self: end;
    margin-block-end: 0.375rem;
  }
  .line {
    gap: 0.5rem;
  }
  .box {
    flex: 1 7rem;
  }
  .line > button {
    flex: 2 9rem;
  }
  .primary,
  .line > button {
    padding-inline: 0.5rem;
  }
  .below {
    gap: 0;
    padding-block-end: var(--_gap);
  }
  .below:has(> .plain) {
    padding-block-end: calc(var(--_gap) - 0.75rem);
  }
  .below .error,
  .below ::slotted(*) {
    margin-block-start: 0.375rem;
  }
  .placeholder {
    min-block-size: 7.75rem;
    clip-path: inset(0 0 var(--_gap) round var(--_radius));
    animation: reserve 3s;
  }
  .placeholder > * {
    animation: conceal 3s;
  }
  @keyframes reserve {
    0% {
      background: #0000;
    }
    10%,
    to {
      background: var(--_surface);
    }
  }
  @keyframes conceal {
    from,
    to {
      opacity: 0;
    }
  }
  ${controls}
  .panel,
  .alert {
    border: 1px solid var(--_border);
    border-radius: var(--_radius);
  }
  .panel {
    gap: 0.75rem;
    padding: 0.75rem var(--_gap);
    background: var(--_surface);
  }
  .row,
  .name {
    display: flex;
    align-items: start;
    gap: 0 0.5rem;
  }
  .name {
    align-items: center;
  }
  .row > .hint {
    flex: 1 8rem;
  }
  .row > :last-child {
    margin-inline-start: auto;
  }
  .amount,
  dd,
  .name {
    white-space: nowrap;
  }
  .note,
  .hint,
  .error,
  .alert,
  .badge {
    font-size: 0.875em;
  }
  .hint,
  .eye {
    color: var(--_muted);
  }
  .glyph {
    opacity: 0.72;
  }
  .note {
    padding-inline-start: 0.75rem;
    border-inline-start: 3px solid var(--_accent);
  }
  ul {
    list-style: none;
  }
  li + li,
  .total {
    padding-block-start: 0.75rem;
    border-block-start: 1px solid var(--_border);
  }
  li + li {
    margin-block-start: 0.75rem;
  }
  .hint {
    font-weight: 400;
    white-space: pre-line;
  }
  #add {
    margin-block-start: -0.75rem;
  }
  li button {
    margin-block: -0.75rem;
    font-size: 0.875em;
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
    align-items: center;
    gap: 0.5rem 0.75rem;
    padding: 0.625rem 0.75rem;
    border-color: var(--_notice);
    background: color-mix(in srgb, var(--_notice) 8%, #0000);
  }
  .alert p {
    flex: 1 9rem;
  }
  .alert svg {
    stroke: var(--_notice);
  }
  .silent {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;

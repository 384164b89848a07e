import { type CSSResult, unsafeCSS } from "lit";
import { controls, css } from "./controls.styles.js";

/** The styles of both elements. All colours derive from the page's text colour, so they fit light and dark pages. */
export const styles: CSSResult = unsafeCSS(css`
  :host {
    --_accent: var(--giftcard-pay-accent, #1f4fd1);
    --_radius: var(--giftcard-pay-radius, 8px);
    --_gap: var(--giftcard-pay-gap, 16px);
    --_border: var(--giftcard-pay-border, color-mix(in srgb, currentcolor 18%, #0000));
    --_surface: var(--giftcard-pay-surface, color-mix(in srgb, currentcolor 4%, #0000));
    --_muted: color-mix(in srgb, currentcolor 72%, #0000);
    --_error: var(--giftcard-pay-error, color-mix(in srgb, #d81b1b 62%, currentcolor));
    --_notice: var(--giftcard-pay-notice, color-mix(in srgb, #c80 72%, currentcolor));
    display: block;
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
  /* Not on the host, since a page's rule for every element would override it there. */
  fieldset {
    border: 0;
    min-inline-size: 0;
    max-inline-size: 44em;
    writing-mode: horizontal-tb;
    text-align: start;
    text-align-last: auto;
    text-indent: 0;
    text-transform: none;
    letter-spacing: normal;
    word-spacing: normal;
    word-break: normal;
    overflow-wrap: anywhere;
    white-space: normal;
    line-height: 1.45;
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
    grid-template-columns: repeat(auto-fit, minmax(min(19em, 100%), 1fr));
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
    margin-block-end: 6px;
  }
  .box {
    flex: 1 7em;
  }
  .line > button {
    flex: 2 9em;
  }
  .primary,
  .line > button {
    padding-inline: 8px;
  }
  .below {
    gap: 0;
    padding-block-end: var(--_gap);
  }
  .below .error,
  .below ::slotted(*) {
    margin-block-start: 6px;
  }
  .placeholder {
    min-block-size: 8.25em;
    animation: conceal 3s;
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
    gap: 12px;
    padding: 12px var(--_gap);
    background: var(--_surface);
  }
  .row,
  .name {
    display: flex;
    align-items: start;
    gap: 0 8px;
  }
  .name {
    align-items: center;
  }
  .row > .hint {
    flex: 1 8em;
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
    padding-inline-start: 12px;
    border-inline-start: 3px solid var(--_accent);
  }
  ul {
    list-style: none;
  }
  li + li,
  .total {
    padding-block-start: 12px;
    border-block-start: 1px solid var(--_border);
  }
  li + li {
    margin-block-start: 12px;
  }
  .hint {
    font-weight: 400;
  }
  form > .plain,
  #add {
    grid-column: 1 / -1;
    margin-block-start: -12px;
  }
  form > .plain {
    margin-block-end: calc(var(--_gap) - 12px);
  }
  li button {
    margin-block: -12px;
    font-size: 0.875em;
  }
  .badge {
    padding: 0 8px;
    border: 1px solid;
    border-radius: 16px;
  }
  .error {
    color: var(--_error);
  }
  .alert {
    align-items: center;
    gap: 8px 12px;
    padding: 10px 12px;
    border-color: var(--_notice);
    background: color-mix(in srgb, var(--_notice) 8%, #0000);
  }
  .alert p {
    flex: 1 9em;
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
`);

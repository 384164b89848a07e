/** Makes a text of styles. Lit's own tag is larger, since it checks its values. */
export const css = String.raw;

/** The styles of fields and buttons. */
export const controls = css`
  input,
  button {
    border: 1px solid var(--giftcard-pay-field-border, color-mix(in srgb, currentcolor 55%, #0000));
    border-radius: var(--_radius);
    font: inherit;
    color: inherit;
    min-block-size: 44px;
    min-inline-size: 44px;
    padding: 8px 12px;
    background: var(--_surface);
  }
  button,
  .strong {
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
  /* The groups of a card number run from left to right in every language. */
  .field:first-child .box {
    direction: ltr;
  }
  .box .glyph {
    margin-inline-start: 12px;
    pointer-events: none;
  }
  #number {
    padding-inline-start: 42px;
  }
  #pin {
    padding-inline-end: 44px;
  }
  .masked {
    -webkit-text-security: disc;
  }
  svg {
    inline-size: 20px;
    flex: none;
    fill: none;
    stroke: currentcolor;
    stroke-width: 1.75;
  }
  .eye {
    justify-self: end;
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
    color: var(--giftcard-pay-on-accent, #fff);
    background: var(--_accent);
    border-color: var(--_accent);
  }
  .primary:hover {
    background: color-mix(in srgb, var(--_accent) 88%, #000);
  }
  .plain {
    border: 0;
    background: none;
    text-decoration: underline;
    text-underline-offset: 0.2em;
    font-weight: inherit;
    padding-inline: 8px;
    margin-inline: -8px;
    max-inline-size: 100%;
  }
  #apply {
    flex: 1 8em;
    max-inline-size: 18em;
  }
  form > .plain,
  #add,
  .badge {
    justify-self: start;
  }
  fieldset:disabled,
  button[aria-disabled="true"] {
    cursor: default;
  }
  fieldset:disabled,
  button[aria-disabled="true"]:not(.busy) {
    opacity: 0.7;
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
  .plain:focus-visible,
  .eye:focus-visible {
    outline-offset: -8px;
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

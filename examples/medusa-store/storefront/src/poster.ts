import { html, type TemplateResult } from "lit";

/** The poster of an event; an owl by default. */
export function poster(handle: string | null | undefined): TemplateResult {
  const fallback = (event: Event) => {
    const image = event.currentTarget as HTMLImageElement;
    if (!image.src.endsWith("/owl.svg")) image.src = "/owl.svg";
  };
  return html`<img class="poster" src="/posters/${handle}.svg" alt="" width="400" height="260" @error=${fallback} />`;
}

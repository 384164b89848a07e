import { type RefObject, useEffect, useRef } from "react";

/**
 * Moves the focus to the first heading of a part of the page if the focused element is gone, such as a button whose work is
 * done. A person who uses a keyboard then stays there.
 */
export function useKeptFocus(): RefObject<HTMLDivElement> {
  const part = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isInside = false;
    const follow = ({ target }: Event) => {
      // A dialog that was opened from here returns the focus.
      if (!(target as Element).closest("[role$=dialog]")) isInside = part.current?.contains(target as Node) ?? false;
    };
    const leave = () => {
      isInside = false;
    };
    const observer = new MutationObserver(() => {
      if (isInside && document.activeElement === document.body)
        part.current?.querySelector<HTMLElement>("h1, h2")?.focus({ preventScroll: true });
    });
    // A click beside everything leaves the page without a focus.
    document.addEventListener("pointerdown", leave, true);
    document.addEventListener("focusin", follow);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener("pointerdown", leave, true);
      document.removeEventListener("focusin", follow);
      observer.disconnect();
    };
  }, []);
  return part;
}

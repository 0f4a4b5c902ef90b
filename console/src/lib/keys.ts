// Letters as shortcuts: only where no text is typed, and only while the reader wants them.

const kOff = 'witan.keys';

export const keysWanted = (): boolean => localStorage.getItem(kOff) !== 'off';
export const wantKeys = (wanted: boolean): void => localStorage.setItem(kOff, wanted ? 'on' : 'off');

export function isShortcut(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !keysWanted()) return false;
  const at = event.target as HTMLElement | null;
  return !at?.closest('input:not([type=radio], [type=checkbox]), select, textarea, dialog, [contenteditable]');
}

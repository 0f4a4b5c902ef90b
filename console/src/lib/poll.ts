import { session } from '../state.svelte.ts';

// Reads again every `ms` while the page is seen and somebody is signed in, and at once when it is seen again. Returns
// what ends it.
export function poll(work: () => Promise<void>, ms: number): () => void {
  let running = false;
  const once = async () => {
    if (running || document.hidden || session.token === '') return;
    running = true;
    try {
      await work();
    } finally {
      running = false;
    }
  };
  void once();
  const timer = setInterval(() => void once(), ms);
  const seen = () => void once();
  document.addEventListener('visibilitychange', seen);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', seen);
  };
}

// Fetches N URLs with C workers through a peer and prints one JSON line of what came of it.
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    query: { type: 'string', default: '' },
    key: { type: 'string', default: 'peer' },
    n: { type: 'string', default: '60' },
    c: { type: 'string', default: '10' },
    attempts: { type: 'string', default: '4' },
    wall: { type: 'string', default: '120' },
  },
});
if (!['127.0.0.1', 'localhost', '[::1]'].includes(new URL(values.base).hostname)) {
  console.error(`--base ${values.base}: loopback only`);
  process.exit(2);
}
export const headers = { 'X-Api-Key': values.key };
export const attempts = Number(values.attempts);

const seen = { completed: 0, failed: 0, refused: 0, sent: 0 };

/** Every request that left, retries too; `status` is 0 where no answer came. */
export function count(status) {
  seen.sent += 1;
  if (status === 429 || status === 503) seen.refused += 1;
}

/** `fetchOne(url)` resolves when the URL is done and rejects when the peer gives it up. */
export async function run(peer, version, fetchOne) {
  const [n, workers] = [Number(values.n), Number(values.c)];
  const begin = performance.now();
  const finish = () => {
    seen.failed = n - seen.completed;
    console.log(JSON.stringify({ peer, version, ...seen, elapsed_s: Math.round(performance.now() - begin) / 1000 }));
    process.exit(0);
  };
  setTimeout(finish, Number(values.wall) * 1000);
  let next = 0;
  await Promise.all(Array.from({ length: workers }, async () => {
    while (next < n) {
      const url = `${values.base}/item/${next++}${values.query && `?${values.query}`}`;
      await fetchOne(url).then(() => { seen.completed += 1; }, () => {});
    }
  }));
  finish();
}

// What a Node.js limiter answers once it let a request through: a small JSON, after ?ms= milliseconds.
export const stats = { served: 0, in_flight: 0, max_in_flight: 0 };

export async function work(url) {
  const query = new URL(url, 'http://rig').searchParams;
  const ms = Math.min(Number(query.get('ms')) || 0, 60_000);
  stats.in_flight += 1;
  stats.max_in_flight = Math.max(stats.max_in_flight, stats.in_flight);
  if (ms > 0) await new Promise((done) => setTimeout(done, ms));
  stats.in_flight -= 1;
  stats.served += 1;
  return { ok: true, served: stats.served };
}

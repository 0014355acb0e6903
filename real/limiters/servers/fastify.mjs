// usage: node fastify.mjs PORT OPTIONS-as-JSON (see recipes/fastify_rate_limit.py)
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import { stats, work } from './work.mjs';

const [port, options] = [Number(process.argv[2]), JSON.parse(process.argv[3])];
const app = Fastify({ keepAliveTimeout: 60_000 });

await app.register(rateLimit, {
  max: Number(options.limit),
  timeWindow: Number(options.window_ms),
  keyGenerator: (request) => request.headers['x-api-key'] || request.ip,
  enableDraftSpec: options.headers === 'draft',
  continueExceeding: options.continue === '1',
  exponentialBackoff: options.backoff === '1',
  ...(options.ban && { ban: Number(options.ban) }),
});
app.get('/__stats', { config: { rateLimit: false } }, async () => stats);
app.get('/*', async (request) => work(request.url));
await app.listen({ port, host: '127.0.0.1' });

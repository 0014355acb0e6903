// usage: node express.mjs PORT OPTIONS-as-JSON (see recipes/express_rate_limit.py)
import express from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import { stats, work } from './work.mjs';

const [port, options] = [Number(process.argv[2]), JSON.parse(process.argv[3])];
const headers = options.headers.split('+');
const app = express();

app.get('/__stats', (request, response) => response.json(stats));
app.use(rateLimit({
  limit: Number(options.limit),
  windowMs: Number(options.window_ms),
  keyGenerator: (request) => request.get('x-api-key') || ipKeyGenerator(request.ip),
  legacyHeaders: headers.includes('legacy'),
  standardHeaders: headers.find((name) => name.startsWith('draft-')) ?? false,
}));
app.use(async (request, response) => response.json(await work(request.originalUrl)));
app.listen(port, '127.0.0.1').keepAliveTimeout = 60_000;

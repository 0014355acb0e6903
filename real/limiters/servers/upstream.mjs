// What stands behind nginx. usage: node upstream.mjs PORT
import http from 'node:http';
import { stats, work } from './work.mjs';

const server = http.createServer(async (request, response) => {
  const answer = request.url === '/__stats' ? stats : await work(request.url);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answer));
});
// Longer than nginx keeps its own idle connections, so that it never reuses one that is just being closed.
server.keepAliveTimeout = 75_000;
server.listen(Number(process.argv[2]), '127.0.0.1');

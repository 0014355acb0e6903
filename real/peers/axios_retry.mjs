// axios with axios-retry as its README shows it: exponentialDelay (100 ms doubled, a Retry-After is its floor) and the
// library's own condition (network errors, 429 and 5xx of idempotent requests). 4 attempts: its default of 3 retries.
import { readFileSync } from 'node:fs';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import { attempts, count, headers, run } from './harness.mjs';

const manifest = new URL('../node_modules/axios-retry/package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
const http = axios.getAdapter('http');

// Counting in the adapter sees each attempt; an interceptor would see only the last one.
const adapter = (config) => http(config).then(
  (response) => { count(response.status); return response; },
  (error) => { count(error.response?.status ?? 0); throw error; },
);
const client = axios.create({ adapter, headers, proxy: false });
axiosRetry(client, { retries: attempts - 1, retryDelay: axiosRetry.exponentialDelay });

await run('axios-retry', version, (url) => client.get(url));

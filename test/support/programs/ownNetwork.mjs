import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

// A small Internet, with one machine that has all addresses: run by ownNetwork.ts with a network and mounts of its own.
//
//   unshare --mount --net node ownNetwork.mjs '{"folder":…,"addresses":[…],"names":{…},"port":…,"commands":[[…],…]}'

const NAME_SERVER = '127.0.0.1';
const TYPES = { 1: 'A', 28: 'AAAA' };
/** Longer answers go through TCP. */
const MAX_UDP_BYTES = 512;
const [TRUNCATED, ANSWER] = [0x0200, 0x8180];
const HEADER_BYTES = 12;

const { folder, addresses, names, port, commands } = JSON.parse(process.argv[2]);
/** By the local address. */
const connections = {};
/** How often it was asked, by name and type. */
const questions = {};

const ip = (...args) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
ip('link', 'set', 'lo', 'up');
for (const address of addresses) ip('address', 'add', address, 'dev', 'lo');
replace('/etc/resolv.conf', `nameserver ${NAME_SERVER}\n`);
if (existsSync('/etc/nsswitch.conf')) replace('/etc/nsswitch.conf', 'hosts: files dns\n');
await startNameServer();
const receiver = await startReceiver();

const runs = [];
for (const [program, ...args] of commands) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  runs.push({ code, stdout, stderr });
}
receiver.closeAllConnections();
console.log(JSON.stringify({ runs, connections, questions }));
process.exit();

/** For this process and those that it starts. */
function replace(file, content) {
  const own = join(folder, file.replaceAll('/', '-'));
  writeFileSync(own, content);
  execFileSync('mount', ['--bind', own, file]);
}

/** Counts connections to each address of this machine. */
async function startReceiver() {
  const [key, cert] = ['key', 'crt'].map((kind) => readFileSync(join(folder, `receiver.${kind}`)));
  const server = createHttpsServer({ key, cert }, (_request, response) => {
    response.writeHead(204, { connection: 'close' }).end();
  });
  server.on('connection', ({ localAddress }) => {
    const address = localAddress.replace('::ffff:', '');
    connections[address] = (connections[address] ?? 0) + 1;
  });
  await once(server.listen(port, '::'), 'listening');
  return server;
}

/** Each question for a name gets its next answer, and later ones the last (RFC 1035). */
async function startNameServer() {
  const udp = createSocket('udp4');
  udp.on('message', (question, { port, address }) =>
    udp.send(answerTo(question, MAX_UDP_BYTES), port, address),
  );
  udp.bind(53, NAME_SERVER);
  await once(udp, 'listening');
  const tcp = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) {
        const end = 2 + received.readUInt16BE();
        const answer = answerTo(received.subarray(2, end), Number.POSITIVE_INFINITY);
        socket.write(Buffer.concat([numberOf(answer.length), answer]));
        received = received.subarray(end);
      }
    });
  });
  await once(tcp.listen(53, NAME_SERVER), 'listening');
}

/** @param most bytes; for a longer answer the question is to come again through TCP */
function answerTo(question, most) {
  const labels = [];
  let at = HEADER_BYTES;
  for (; question[at] > 0; at += 1 + question[at])
    labels.push(question.toString('latin1', at + 1, at + 1 + question[at]));
  const end = at + 5;
  const [name, type] = [labels.join('.').toLowerCase(), TYPES[question.readUInt16BE(at + 1)]];
  questions[name] ??= {};
  const times = questions[name];
  const answers = names[name]?.[type] ?? [[]];
  const found = answers[Math.min(times[type] ?? 0, answers.length - 1)];
  const write = (flags, records) => {
    const head = [question.subarray(0, 2), ...[flags, 1, records.length, 0, 0].map(numberOf)];
    return Buffer.concat([...head, question.subarray(HEADER_BYTES, end), ...records]);
  };
  const answer = write(ANSWER, found.map(recordOf));
  if (answer.length > most) return write(ANSWER | TRUNCATED, []);
  times[type] = (times[type] ?? 0) + 1;
  return answer;
}

/** For the name of the question, and not to be kept. */
function recordOf(address) {
  const bytes = address.includes(':') ? ipv6BytesOf(address) : Buffer.from(address.split('.').map(Number));
  const type = address.includes(':') ? 28 : 1;
  return Buffer.concat([...[0xc00c, type, 1, 0, 0, bytes.length].map(numberOf), bytes]);
}

function ipv6BytesOf(address) {
  const [front, back = ''] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...front, ...Array(8 - front.length - back.length).fill('0'), ...back];
  return Buffer.concat(groups.map((group) => numberOf(Number.parseInt(group, 16))));
}

function numberOf(value) {
  return Buffer.of(value >> 8, value & 255);
}

import { createServer } from 'node:http';

import { WebSocketServer } from 'ws';

/** The raw limit of a broadcast: what is posted goes to every socket as it is. It acknowledges, and does nothing else. */
const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    res.writeHead(200, { 'content-length': 0 }).end();
    if (req.method !== 'POST') return;
    const message = Buffer.concat(chunks);
    for (const socket of sockets.clients) socket.send(message, { binary: false });
  });
});

const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    if (data.includes('connection_init')) socket.send('{"type":"connection_ack"}');
  });
});
server.listen(Number(process.env['PORT']), '127.0.0.1');

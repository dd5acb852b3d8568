# Nothing is compiled: the sources are the program. Node comes from the image, so the packaged one is left out.
FROM node:24-slim

ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/check-node.mjs scripts/warm.mjs scripts/
RUN npm ci --omit=dev --omit=optional
COPY src src
COPY sandbox sandbox
COPY web web
RUN node scripts/warm.mjs

# The embedded event log. With REDIS_URL set nothing is written here but audit lines while nobody reads stdout.
ENV EVENT_STORE_DIR=/data
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 4000
# Docker itself only calls it unhealthy then: Swarm, or whatever watches containers, has to replace it.
HEALTHCHECK --interval=10s --timeout=3s --retries=3 CMD ["node", "-e", "fetch('http://127.0.0.1:4000/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--import", "./scripts/check-node.mjs", "src/server.ts"]

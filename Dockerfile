# There is no build step: Node runs the sources. Node comes from the image, so its npm package is left out.
FROM node:24-slim

ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/check-node.mjs scripts/warm.mjs scripts/quarantine.ts scripts/token.ts scripts/
RUN npm ci --omit=dev --omit=optional
COPY src src
COPY sandbox sandbox
COPY web web

# For the embedded event log. With REDIS_URL, only audit lines are written here, and only while stdout is blocked.
ENV EVENT_STORE_DIR=/data
RUN mkdir -p /data node_modules/.cache && chown -R node:node /data node_modules/.cache
VOLUME /data
USER node
# Run as the same user as the gateway, because Node's compile cache works for its owner only.
RUN node scripts/warm.mjs
EXPOSE 4000
# Docker itself only marks the container as unhealthy. Swarm and other orchestrators replace it.
HEALTHCHECK --interval=10s --timeout=3s --retries=3 CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 4000) + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "--import", "./scripts/check-node.mjs", "src/server.ts"]

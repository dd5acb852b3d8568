/** The tabs that GraphiQL opens with. */
export const examples = [
  {
    query: `# Clients with their sessions and notes in one request.
query Clients {
  organizations(first: 1) {
    nodes {
      name
      clinics(first: 1) {
        nodes {
          name
          clients(first: 5) {
            totalCount
            nodes {
              firstName
              lastName
              status
              sessions(first: 2) {
                nodes {
                  transcriptStatus
                  progressNote {
                    progressNoteId
                    isLoading
                    isLocked
                    note
                  }
                }
              }
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    }
  }
}
`,
  },
  {
    query: `# Requests a magic edit. Copy a progressNoteId from the
# first tab into the variables. If you run it twice, the
# idempotency key makes sure that the note is edited once.
mutation Edit($noteId: ID!, $key: String) {
  magicEdit(
    input: {
      progressNoteId: $noteId
      userInstructions: "Make the plan shorter."
      idempotencyKey: $key
    }
  ) {
    __typename
    ... on ProgressNoteChange {
      cursor
      progressNote {
        isLoading
        note
      }
    }
    ... on Problem {
      message
    }
  }
}
`,
    variables: '{\n  "noteId": "",\n  "key": "first-try"\n}',
  },
  {
    query: `# Notes as they become ready. Keep it running: in the
# sandbox a session starts every few seconds.
subscription Live {
  noteReady {
    cursor
    type
    occurredAt
    client {
      firstName
      lastName
    }
    progressNote {
      progressNoteId
      note
    }
  }
}
`,
  },
];

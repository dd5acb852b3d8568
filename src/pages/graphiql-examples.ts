/** GraphiQL opens with these in its tabs. */
export const examples = [
  {
    query: `# Clients with their latest sessions and notes: one request instead of dozens.
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
    query: `# Asks for a rewrite. Take a progressNoteId that is not
# locked from the first tab. Run it twice: the key makes
# the second one harmless.
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
    query: `# Notes as they become ready. Leave it running: in the
# sandbox a session begins every few seconds.
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

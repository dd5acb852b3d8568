/** The tabs that GraphiQL opens with. */
export const examples = [
  {
    query: `# Clients with their sessions and notes
# in one request.
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
                    id
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
    query: `# Requests a magic edit. First run the tab
# "Clients", and copy the id of a
# progressNote that is not locked into the
# variables below. In an app, also send a
# new idempotencyKey for each user action.
mutation Edit($noteId: ID!) {
  magicEdit(
    input: {
      progressNoteId: $noteId
      userInstructions: "Make it shorter."
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
    ... on InvalidInput {
      issues
    }
  }
}
`,
    variables: '{\n  "noteId": "<id of a progressNote>"\n}',
  },
  {
    query: `# Notes as they become ready. Keep it
# running: in the sandbox a session
# starts every few seconds.
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
      id
      note
    }
  }
}
`,
  },
];

/** GraphiQL opens with these in its tabs. */
export const examples = [
  {
    query: `# Clients of a clinic, with their latest sessions and notes: one request instead of dozens.
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
              sessions(first: 3) {
                nodes {
                  sessionId
                  transcriptStatus
                  progressNote { progressNoteId isLoading isLocked note }
                }
              }
            }
            pageInfo { hasNextPage endCursor }
          }
        }
      }
    }
  }
}
`,
  },
  {
    query: `# Asks for a rewrite. Take a progressNoteId from the first tab.
mutation Edit($noteId: ID!) {
  magicEdit(input: { progressNoteId: $noteId, userInstructions: "Make the plan shorter." }) {
    __typename
    ... on ProgressNoteChange { cursor progressNote { isLoading note } }
    ... on Problem { message }
  }
}
`,
    variables: '{ "noteId": "" }',
  },
  {
    query: `# Notes as they become ready. Leave it running: the sandbox begins a session every few seconds.
subscription Live {
  noteReady {
    cursor
    type
    client { firstName lastName }
    progressNote { progressNoteId note }
  }
}
`,
  },
];

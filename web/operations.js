const NOTE = `progressNote { id progressNoteId isLoading isLocked note }`;
const PAGE = `totalCount pageInfo { hasNextPage endCursor }`;

export const START = `query Start {
  viewer {
    organizations(first: 20) { nodes { id name clinics(first: 50) { nodes { id name } } } }
    clinics { id name }
    clinicians { id firstName lastName }
  }
}`;

export const CLINICIANS = `query Clinicians($clinicId: ID!, $after: String) {
  clinic(id: $clinicId) {
    clinicians(first: 50, after: $after) { ${PAGE} nodes { id firstName lastName } }
  }
}`;

/** `eventCursor` is the position of the log when this was read: subscribing after it leaves no gap. */
export const SESSIONS_OF = {
  clinic: `query SessionsOfClinic($clinic: ID!, $after: String) {
    eventCursor
    scope: clinic(id: $clinic) {
      id name
      clients(first: 10, after: $after) {
        ${PAGE} nodes { id firstName lastName sessions(first: 1) { nodes { id raw ${NOTE} } } }
      }
    }
  }`,
  clinician: `query SessionsOfClinician($clinician: ID!, $clinic: ID, $after: String) {
    eventCursor
    scope: clinician(id: $clinician, clinicId: $clinic) {
      id firstName lastName
      clients(first: 10, after: $after) {
        ${PAGE} nodes { id firstName lastName sessions(first: 2) { nodes { id raw ${NOTE} } } }
      }
    }
  }`,
  client: `query SessionsOfClient($list: ID!, $clinician: ID, $clinic: ID, $after: String) {
    eventCursor
    scope: client(id: $list, clinicianId: $clinician, clinicId: $clinic) {
      id firstName lastName
      sessions(first: 10, after: $after) { ${PAGE} nodes { id raw ${NOTE} } }
    }
  }`,
};

export const CLIENTS_OF = {
  clinic: `query ClientsOfClinic($clinic: ID!, $name: String, $after: String) {
    scope: clinic(id: $clinic) {
      clients(first: 20, after: $after, filter: { name: $name }) {
        ${PAGE} nodes { id firstName lastName dateOfBirth }
      }
    }
  }`,
  clinician: `query ClientsOfClinician($clinician: ID!, $clinic: ID, $name: String, $after: String) {
    scope: clinician(id: $clinician, clinicId: $clinic) {
      clients(first: 20, after: $after, filter: { name: $name }) {
        ${PAGE} nodes { id firstName lastName dateOfBirth }
      }
    }
  }`,
};

export const EVENTS = `subscription Events($filter: EventFilter, $after: EventCursor) {
  events(filter: $filter, after: $after) {
    cursor type occurredAt
    ... on SessionEvent {
      session { id }
      client { id firstName lastName }
      clinician { id firstName lastName }
    }
    ... on ProgressNoteEvent { ${NOTE} }
    ... on AssessmentCompleted { client { id firstName lastName } }
  }
}`;

export const SESSION = `query OneSession($id: ID!, $clientId: ID!) {
  session(id: $id, clientId: $clientId) {
    id raw
    client { id firstName lastName dateOfBirth }
    ${NOTE}
    transcriptStatus
    transcript { items { startTime speaker transcript } }
    mdmStatus
    mdm { problemsAddressed { level rationale } risk crisisIntervention }
    events { cursor type occurredAt }
  }
}`;

export const SCORES = `query Scores($client: ID!, $after: EventCursor) {
  events(first: 50, after: $after, filter: { clientId: $client, types: [ASSESSMENT_COMPLETED] }) {
    nodes {
      occurredAt
      ... on AssessmentCompleted {
        assessmentId
        assessmentScore { totalScore answers { questionDisplay answerDisplay } }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

export const MAGIC_EDIT = `mutation MagicEdit($input: MagicEditInput!) {
  magicEdit(input: $input) {
    outcome: __typename
    ... on ProgressNoteChange { ${NOTE} }
    ... on Problem { message }
    ... on InvalidInput { issues }
  }
}`;

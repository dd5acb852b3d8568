/** Ids are UUIDs, as in links. Only notes use the global id, because a note's UUID may change. */
const NOTE = `progressNote { id progressNoteId isLoading isLocked note }`;
/** Looked up in the lists of the client. */
const RAW = `raw @include(if: $hasClient)`;
const PAGE = `totalCount pageInfo { hasNextPage endCursor }`;

export const START = `query Start {
  viewer {
    organizations(first: 50) {
      ${PAGE}
      nodes { id: organizationId name clinics(first: 100) { ${PAGE} nodes { id: clinicId name } } }
    }
    clinics { id: clinicId name }
    clinicians { id: clinicianId firstName lastName }
    clients { id: clientId firstName lastName }
    sessions { id: sessionId client { id: clientId } }
  }
}`;

/** For links with global ids. */
export const UUIDS = `query Uuids($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Clinic { id: clinicId }
    ... on Clinician { id: clinicianId }
    ... on Client { id: clientId }
    ... on Session { id: sessionId }
  }
}`;

export const CLINICIANS = `query Clinicians($clinicId: ID!, $after: String) {
  clinic(id: $clinicId) {
    clinicians(first: 50, after: $after) { ${PAGE} nodes { id: clinicianId firstName lastName } }
  }
}`;

/** `eventCursor` is the position of the log when the query began: subscribing after it leaves no gap. */
export const SESSIONS_OF = {
  clinic: `query SessionsOfClinic($clinic: ID!, $after: String) {
    eventCursor
    scope: clinic(id: $clinic) {
      id: clinicId name
      clients(first: 10, after: $after) {
        ${PAGE}
        nodes { id: clientId firstName lastName sessions(first: 1) { nodes { id: sessionId raw ${NOTE} } } }
      }
    }
  }`,
  clinician: `query SessionsOfClinician($clinician: ID!, $clinic: ID, $after: String) {
    eventCursor
    scope: clinician(id: $clinician, clinicId: $clinic) {
      id: clinicianId firstName lastName
      clients(first: 10, after: $after) {
        ${PAGE}
        nodes { id: clientId firstName lastName sessions(first: 2) { nodes { id: sessionId raw ${NOTE} } } }
      }
    }
  }`,
  client: `query SessionsOfClient($list: ID!, $clinician: ID, $clinic: ID, $after: String) {
    eventCursor
    scope: client(id: $list, clinicianId: $clinician, clinicId: $clinic) {
      id: clientId firstName lastName
      sessions(first: 10, after: $after) { ${PAGE} nodes { id: sessionId raw ${NOTE} } }
    }
  }`,
  session: `query SessionOfLink($session: ID!, $client: ID, $hasClient: Boolean!) {
    eventCursor
    scope: session(id: $session, clientId: $client) {
      id: sessionId ${RAW} client { id: clientId firstName lastName } ${NOTE} events { type occurredAt }
    }
  }`,
};

export const CLIENTS_OF = {
  clinic: `query ClientsOfClinic($clinic: ID!, $name: String, $after: String) {
    scope: clinic(id: $clinic) {
      clients(first: 20, after: $after, filter: { name: $name }) {
        ${PAGE} nodes { id: clientId firstName lastName dateOfBirth }
      }
    }
  }`,
  clinician: `query ClientsOfClinician($clinician: ID!, $clinic: ID, $name: String, $after: String) {
    scope: clinician(id: $clinician, clinicId: $clinic) {
      clients(first: 20, after: $after, filter: { name: $name }) {
        ${PAGE} nodes { id: clientId firstName lastName dateOfBirth }
      }
    }
  }`,
};

export const EVENTS = `subscription Events($filter: EventFilter, $after: EventCursor) {
  events(filter: $filter, after: $after) {
    cursor type occurredAt
    ... on SessionEvent {
      session { id: sessionId raw }
      client { id: clientId firstName lastName }
    }
    ... on ProgressNoteEvent { ${NOTE} }
    ... on AssessmentCompleted { client { id: clientId firstName lastName } }
  }
}`;

export const SESSION = `query OneSession($session: ID!, $client: ID, $hasClient: Boolean!) {
  session(id: $session, clientId: $client) {
    id: sessionId ${RAW}
    client { id: clientId firstName lastName dateOfBirth }
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

const NOTE = `progressNote { id progressNoteId isLoading isLocked note }`;

export const START = `query Start {
  viewer {
    organizations(first: 20) { nodes { id name clinics(first: 50) { nodes { id name } } } }
    clinics { id name }
    clinicians { id firstName lastName }
  }
}`;

export const CLINICIANS = `query Clinicians($clinicId: ID!, $after: String) {
  clinic(id: $clinicId) {
    clinicians(first: 50, after: $after) {
      nodes { id firstName lastName }
      pageInfo { hasNextPage endCursor }
    }
  }
}`;

/** \`eventCursor\` is where the log stood when this was read: following after it leaves no gap. */
export const RECENT = `query Recent($clinicianId: ID!, $clinicId: ID, $after: String) {
  eventCursor
  clinician(id: $clinicianId, clinicId: $clinicId) {
    id firstName lastName
    clients(first: 10, after: $after) {
      totalCount
      nodes {
        id firstName lastName
        sessions(first: 2) { nodes { id raw ${NOTE} } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}`;

export const FOLLOW = `subscription Follow($clinicianId: ID!, $after: EventCursor) {
  events(filter: { clinicianId: $clinicianId }, after: $after) {
    cursor type occurredAt
    ... on SessionEvent { session { id } client { id firstName lastName } }
    ... on ProgressNoteEvent { ${NOTE} }
    ... on AssessmentCompleted {
      client { id firstName lastName }
      assessmentId
      assessmentScore { totalScore }
    }
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
  events(first: 50, filter: { clientId: $clientId, types: [ASSESSMENT_COMPLETED] }) {
    nodes {
      cursor occurredAt
      ... on AssessmentCompleted {
        assessmentId
        assessmentScore { totalScore answers { questionDisplay answerDisplay } }
      }
    }
  }
}`;

export const MAGIC_EDIT = `mutation Ask($input: MagicEditInput!) {
  magicEdit(input: $input) {
    outcome: __typename
    ... on ProgressNoteChange { ${NOTE} }
    ... on Problem { message }
    ... on InvalidInput { issues }
  }
}`;

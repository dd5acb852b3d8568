/**
 * Clients move to other clinicians, and clinicians to other clinics. So a list that held a row proves for this long
 * that it does; then it is read again.
 */
export const LINK_PROVES_FOR_MS = 60_000;

import { byId } from '../dom.js';
import { token } from '../graphql.js';

/** Only where the server asks for a token. A sandbox without AUTH_* never does. */
export function createSignIn(onToken, onSignOut) {
  const [form, field, problem, out, panes] = [
    'sign-in',
    'token',
    'token-problem',
    'sign-out',
    'panes',
  ].map(byId);

  function ask(message) {
    // The first visit is no mistake.
    if (token.get()) problem.textContent = message;
    token.clear();
    form.hidden = false;
    panes.hidden = true;
    out.hidden = true;
    field.focus();
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    token.set(field.value.trim());
    field.value = '';
    onToken();
  });
  out.addEventListener('click', () => {
    onSignOut();
    token.clear();
    // Everything that was read goes with the page.
    location.replace('/');
  });

  return {
    ask,
    done() {
      form.hidden = true;
      out.hidden = token.get() === undefined;
    },
  };
}

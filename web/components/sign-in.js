import { byId } from '../dom.js';
import { token } from '../graphql.js';

/** Shown only if the server requires a token. A sandbox without AUTH_* never does. */
export function createSignIn(onToken, onSignOut) {
  const [form, field, problem, out, panes] = [
    'sign-in',
    'token',
    'token-problem',
    'sign-out',
    'panes',
  ].map(byId);

  function ask(message = history.state?.problem ?? '') {
    if (token.get()) {
      token.clear();
      history.replaceState({ problem: message }, '');
      // The next viewer may be another person: reloading the page discards everything that was read.
      return location.reload();
    }
    problem.textContent = message;
    form.hidden = false;
    panes.hidden = true;
    out.hidden = true;
    field.focus();
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    token.set(field.value.trim());
    field.value = '';
    problem.textContent = '';
    onToken();
  });
  out.addEventListener('click', () => {
    onSignOut();
    token.clear();
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

// Conveniences where scripts run; without them the buttons do the same.

const form = document.querySelector('#compose');
if (form) {
  const { scope, composed } = form.elements;
  let latest = 0;
  document.querySelector('#update').hidden = true;
  form.addEventListener('input', async ({ target }) => {
    if (['scope', 'instance_name', 'at-once'].includes(target.name)) return;
    latest += 1;
    const mine = latest;
    const answer = await fetch('/scope', { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    const text = await answer.text();
    if (!answer.ok || mine !== latest) return;
    scope.value = text;
    composed.value = text;
  });
}

const timer = document.querySelector('[data-seconds]');
if (timer) {
  const end = Date.now() + Number(timer.textContent) * 1000;
  const tick = setInterval(() => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    timer.textContent = left;
    if (left > 0) return;
    clearInterval(tick);
    document.querySelector('#waiting').hidden = true;
    document.querySelector('#expired').hidden = false;
  }, 1000);
}

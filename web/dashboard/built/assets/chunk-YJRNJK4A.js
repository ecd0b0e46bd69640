var s=["payments:read","payments:write","webhooks:read","webhooks:write"];export{s as a};

var r={ethereum:"Ethereum",polygon:"Polygon",base:"Base",arbitrum:"Arbitrum One",optimism:"OP Mainnet",bsc:"BNB Smart Chain",avalanche:"Avalanche C-Chain"},n=e=>r[e]??e;export{n as a};

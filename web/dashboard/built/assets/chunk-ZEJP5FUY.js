var t=n=>n,r=({status:n})=>n==="pending"||n==="confirming";export{t as a,r as b};

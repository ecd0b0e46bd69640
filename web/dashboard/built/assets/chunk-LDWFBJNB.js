var n=({status:e})=>e==="pending"||e==="confirming";export{n as a};

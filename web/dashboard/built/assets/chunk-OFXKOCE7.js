var e={owner:"Owner",admin:"Admin",developer:"Developer",finance:"Finance",support:"Support",viewer:"Viewer"};export{e as a};

-- Lmod module file of an installation by `pip install --prefix` (see the README beside this folder).

local prefix = "/opt/autograd_cy/0.2.0"
-- The module of the Python that it was installed with; "" for the Python of the operating system.
local python = "python"
-- For programs of several processes, the module of the MPI that mpi4py was built for, or "".
local mpi = ""

help([[
autograd_cy computes derivatives of NumPy-style programs, with the semantics of torch.autograd.

    python3 -m autograd_cy info      versions, compiler, processor, threads and BLAS
    python3 -m autograd_cy doctor    looks for the usual mistakes on clusters
]])
whatis("Name: autograd_cy")
whatis("Version: " .. myModuleVersion())
whatis("Category: machine learning, automatic differentiation")
whatis("Description: automatic differentiation with the semantics of torch.autograd")
whatis("URL: https://pypi.org/project/autograd_cy/")

conflict(myModuleName())
if python ~= "" then
   depends_on(python)
end
if mpi ~= "" then
   depends_on(mpi)
end

-- Compiled modules are for one Python: the folder of another version must not come into $PYTHONPATH.
local places = {
   "lib/python%s/site-packages",
   "lib64/python%s/site-packages",
   "local/lib/python%s/dist-packages", -- pip of Debian and Ubuntu
}
local folders, versions = {}, {}
for minor = 10, 19 do
   local version = "3." .. minor
   for _, place in ipairs(places) do
      local folder = pathJoin(prefix, string.format(place, version))
      if isDir(pathJoin(folder, "autograd_cy")) then
         folders[#folders + 1], versions[#versions + 1] = folder, version
      end
   end
end

-- Whether a loaded module, such as Python/3.13.5-GCCcore-14.3.0, is of this version of Python.
local function is_loaded(version)
   for _, loaded in ipairs(loaded_modules()) do
      local name, number = loaded.fullName:match("^(.*)/(%d+%.%d+)")
      if name == python:match("^[^/]*") and number == version then
         return true
      end
   end
   return false
end

-- Unloading takes back all of them, as Python's module may be gone by then.
local chosen = folders
if mode() == "load" and #folders > 1 then
   chosen = {}
   for number, folder in ipairs(folders) do
      if is_loaded(versions[number]) then
         chosen[#chosen + 1] = folder
      end
   end
end
if mode() == "load" and #folders == 0 then
   LmodError("autograd_cy is not installed in its prefix. Install it there:\n\n"
      .. "    pip install --prefix=" .. prefix .. " autograd_cy\n")
elseif mode() == "load" and #chosen ~= 1 then
   LmodError("autograd_cy is installed for Python " .. table.concat(versions, " and ")
      .. ". Load a module of one of them first:\n\n    module load "
      .. python .. "/" .. versions[1] .. "\n")
end
for _, folder in ipairs(chosen) do
   prepend_path("PYTHONPATH", folder)
end
for _, folder in ipairs({ "bin", "local/bin" }) do
   if isDir(pathJoin(prefix, folder)) then
      prepend_path("PATH", pathJoin(prefix, folder))
   end
end

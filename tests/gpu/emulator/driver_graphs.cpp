// Captures: what is put on a stream while it captures becomes a graph, whose works run one after
// the other.
#include "driver.h"

namespace emu {

static std::shared_ptr<Graph> graph_at(const Table<Graph> &table, const void *handle) {
    auto found = table.find(handle);
    if (!found) fail(CUDA_ERROR_INVALID_VALUE, "%p is no graph", handle);
    return found;
}

static void instantiate(CUgraphExec *made, CUgraph graph) {
    auto found = graph_at(state().graphs, graph);
    *made = (CUgraphExec)state().executable_graphs.add(std::make_shared<Graph>(*found));
}

static void leave_capture(Context &context, const std::shared_ptr<Graph> &capture) {
    for (auto &stream : context.streams)
        if (stream->capture == capture) stream->capture.reset(), stream->began_capture = false;
}

} // namespace emu

using namespace emu;

API cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode) {
    return call(__func__, Needs::context, [&] {
        auto stream = stream_at(handle);
        require(!stream->legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                "the default stream can't capture");
        require(!stream->capture, CUDA_ERROR_ILLEGAL_STATE, "the stream captures already");
        stream->capture = std::make_shared<Graph>();
        stream->capture->context = stream->context;
        stream->began_capture = true;
    });
}

API cuStreamEndCapture(CUstream handle, CUgraph *graph) {
    return call(__func__, Needs::context, [&] {
        auto stream = stream_at(handle);
        *graph = nullptr;
        require(stream->capture != nullptr, CUDA_ERROR_ILLEGAL_STATE, "the stream doesn't capture");
        auto capture = stream->capture;
        require(stream->began_capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                "the capture began in another stream");
        leave_capture(*stream->context, capture);
        require(!capture->broken, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                "something that can't be captured was asked for");
        *graph = (CUgraph)state().graphs.add(capture);
    });
}

API cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
    return call(__func__, Needs::context, [&] {
        auto stream = stream_at(handle);
        *status = !stream->capture          ? CU_STREAM_CAPTURE_STATUS_NONE
                  : stream->capture->broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                            : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    });
}

API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *) {
    return call(__func__, Needs::init, [&] {});
}

API cuGraphInstantiateWithFlags(CUgraphExec *made, CUgraph graph, unsigned long long) {
    return call(__func__, Needs::context, [&] { instantiate(made, graph); });
}

API cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
    return call(__func__, Needs::context, [&] {
        auto graph = graph_at(state().executable_graphs, handle);
        auto stream = stream_at(stream_handle);
        require(graph->context == stream->context, CUDA_ERROR_INVALID_HANDLE,
                "the graph is of another context");
        state().counters.graph_launches++;
        for (const Work &work : graph->works) push(stream, work);
    });
}

API cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    return call(__func__, Needs::init, [&] {
        require(nodes == nullptr, CUDA_ERROR_NOT_SUPPORTED, "nodes of graphs are counted only");
        *count = graph_at(state().graphs, graph)->works.size();
    });
}

API cuGraphDestroy(CUgraph graph) {
    return call(__func__, Needs::init,
                [&] { graph_at(state().graphs, graph), state().graphs.remove(graph); });
}

API cuGraphExecDestroy(CUgraphExec graph) {
    return call(__func__, Needs::init, [&] {
        graph_at(state().executable_graphs, graph);
        state().executable_graphs.remove(graph);
    });
}

#include "app/offscreen.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tilescope {
namespace {

Error no_surface(std::string_view what) {
  return {ErrorKind::no_device,
          fmt::format("A picture of the window cannot be drawn here: {}. Drawing without a display "
                      "needs EGL with OpenGL 3.3, which Mesa's software renderer gives (packages "
                      "libegl1 and libgl1-mesa-dri).",
                      what),
          ""};
}

class Pbuffer : public Offscreen {
 public:
  Pbuffer(EGLDisplay display, EGLSurface surface, EGLContext context, int width, int height)
      : display_(display), surface_(surface), context_(context), width_(width), height_(height) {}

  ~Pbuffer() override {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
    eglDestroySurface(display_, surface_);
    eglTerminate(display_);
  }

  Pixels read() const override {
    Pixels out{width_, height_, std::vector<std::uint8_t>(std::size_t(width_) * height_ * 4)};
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, out.rgba.data());
    // OpenGL's first row is the bottom one.
    const std::ptrdiff_t row = std::ptrdiff_t(width_) * 4;
    for (int y = 0; y < height_ / 2; ++y) {
      std::swap_ranges(out.rgba.begin() + y * row, out.rgba.begin() + (y + 1) * row,
                       out.rgba.begin() + (height_ - 1 - y) * row);
    }
    return out;
  }

  void finish() const override { glFinish(); }

 private:
  EGLDisplay display_;
  EGLSurface surface_;
  EGLContext context_;
  int width_, height_;
};

EGLDisplay open_display() {
  // The surfaceless platform needs neither a display server nor a graphics card.
  const auto platform_display = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (platform_display) {
    EGLDisplay display =
        platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
  }
  EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
  return EGL_NO_DISPLAY;
}

}  // namespace

Outcome<std::unique_ptr<Offscreen>> Offscreen::open(int width, int height) {
  setenv("LIBGL_ALWAYS_SOFTWARE", "1", /*overwrite=*/0);
  EGLDisplay display = open_display();
  if (display == EGL_NO_DISPLAY) return no_surface("EGL has no display to offer");
  const EGLint wanted[] = {EGL_SURFACE_TYPE,
                           EGL_PBUFFER_BIT,
                           EGL_RENDERABLE_TYPE,
                           EGL_OPENGL_BIT,
                           EGL_RED_SIZE,
                           8,
                           EGL_GREEN_SIZE,
                           8,
                           EGL_BLUE_SIZE,
                           8,
                           EGL_ALPHA_SIZE,
                           8,
                           EGL_NONE};
  EGLConfig config = nullptr;
  EGLint found = 0;
  if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(display, wanted, &config, 1, &found) ||
      found == 0) {
    eglTerminate(display);
    return no_surface("EGL offers no OpenGL surface of 8 bits a channel");
  }
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                            3,
                            EGL_CONTEXT_MINOR_VERSION,
                            3,
                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                            EGL_NONE};
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT) {
    eglTerminate(display);
    return no_surface("EGL offers no OpenGL 3.3 core context");
  }
  const EGLint size[] = {EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE};
  EGLSurface surface = eglCreatePbufferSurface(display, config, size);
  if (surface == EGL_NO_SURFACE || !eglMakeCurrent(display, surface, surface, context)) {
    if (surface != EGL_NO_SURFACE) eglDestroySurface(display, surface);
    eglDestroyContext(display, context);
    eglTerminate(display);
    return no_surface(fmt::format("EGL refuses a surface of {}x{} pixels", width, height));
  }
  return std::unique_ptr<Offscreen>(
      std::make_unique<Pbuffer>(display, surface, context, width, height));
}

}  // namespace tilescope
